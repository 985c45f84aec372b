// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface in Rust, without a crate:
//
//   rustc examples/stacks.rs -L build/release/lib -l sframe-c
//
//   stacks find FILE PC          the row for an address, from the SFrame section of an ELF file
//   stacks core FILE EXECUTABLE  all threads of a core
//   stacks here                  the calling thread's stack

use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::mem::{size_of, zeroed};
use std::ptr::null_mut;

const NO_INFO: c_int = 10;

/// A struct of the library with its size set and all else 0. Only for structs that start with their size.
fn sized<T>() -> T {
    unsafe {
        let mut made: T = zeroed();
        (&mut made as *mut T as *mut usize).write(size_of::<T>());
        made
    }
}

#[repr(C)]
struct Error {
    size: usize,
    status: c_int,
    message: [c_char; 256],
    function: u32,
    row: u32,
    offset: u64,
}

#[repr(C)]
struct Rule {
    kind: u8,
    reserved: u8,
    base: u16,
    offset: i32,
}

#[repr(C)]
struct Row {
    size: usize,
    offset: u32,
    ra_signed: c_int,
    cfa: Rule,
    ra: Rule,
    fp: Rule,
}

#[repr(C)]
struct Options {
    size: usize,
    executable: *const c_char,
    sysroot: *const c_char,
    sframe_dir: *const c_char,
    debug_dir: *const c_char,
    no_files: c_int,
    trust_all: c_int,
    no_limits: c_int,
    reserved: c_int,
}

/// Without the registers, which may be left out.
#[repr(C)]
struct Frame {
    size: usize,
    number: u32,
    pc_exact: c_int,
    signal_frame: c_int,
    has_cfa: c_int,
    heuristic: c_int,
    reserved: c_int,
    pc: u64,
    lookup_pc: u64,
    cfa: u64,
    found_by: *const c_char,
}

#[repr(C)]
struct End {
    size: usize,
    complete: c_int,
    why: c_int,
    reason: [c_char; 128],
}

type FrameCallback = extern "C" fn(*const Frame, *mut c_void) -> c_int;

extern "C" {
    fn sframe_file_open(path: *const c_char, error: *mut Error) -> *mut c_void;
    fn sframe_file_close(file: *mut c_void);
    fn sframe_file_num_sections(file: *const c_void) -> usize;
    fn sframe_file_section(file: *const c_void, number: usize) -> *const c_void;
    fn sframe_section_find(section: *const c_void, pc: u64, function: *mut c_void, row: *mut Row, error: *mut Error) -> c_int;
    fn sframe_rule_text(abi: *const c_char, rule: *const Rule, is_cfa: c_int, buffer: *mut c_char, size: usize) -> c_int;
    fn sframe_open_core(path: *const c_char, options: *const Options, error: *mut Error) -> *mut c_void;
    fn sframe_close(process: *mut c_void);
    fn sframe_num_threads(process: *const c_void) -> usize;
    fn sframe_walk(process: *mut c_void, thread: usize, callback: FrameCallback, data: *mut c_void, end: *mut End, error: *mut Error)
        -> c_int;
    fn sframe_function_name(process: *mut c_void, frame: *const Frame, buffer: *mut c_char, size: usize, offset: *mut u64) -> c_int;
    fn sframe_here(frames: *mut u64, capacity: usize, skip: usize, reason: *mut c_int) -> usize;
    fn sframe_reason_text(reason: c_int) -> *const c_char;
}

fn text(chars: &[c_char]) -> String {
    unsafe { CStr::from_ptr(chars.as_ptr()) }.to_string_lossy().into_owned()
}

/// A file of the library: closed at the end of its scope.
struct File(*mut c_void);

impl File {
    fn open(path: &str) -> Result<File, String> {
        let path = CString::new(path).map_err(|_| "a path with a zero byte".to_string())?;
        let mut error: Error = sized();
        let file = unsafe { sframe_file_open(path.as_ptr(), &mut error) };
        if file.is_null() { Err(text(&error.message)) } else { Ok(File(file)) }
    }

    fn find(&self, pc: u64) -> Result<Option<Row>, String> {
        for number in 0..unsafe { sframe_file_num_sections(self.0) } {
            let (mut row, mut error): (Row, Error) = (sized(), sized());
            match unsafe { sframe_section_find(sframe_file_section(self.0, number), pc, null_mut(), &mut row, &mut error) } {
                0 => return Ok(Some(row)),
                NO_INFO => continue,
                _ => return Err(text(&error.message)),
            }
        }
        Ok(None)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        unsafe { sframe_file_close(self.0) }
    }
}

fn rule_text(rule: &Rule, is_cfa: bool) -> String {
    let mut buffer = [0 as c_char; 32];
    let abi = CString::new("amd64").unwrap();
    unsafe { sframe_rule_text(abi.as_ptr(), rule, is_cfa as c_int, buffer.as_mut_ptr(), buffer.len()) };
    text(&buffer)
}

fn find(path: &str, pc: &str) -> Result<(), String> {
    let pc = u64::from_str_radix(pc.trim_start_matches("0x"), 16).map_err(|error| error.to_string())?;
    match File::open(path)?.find(pc)? {
        Some(row) => println!("{} {} {}", rule_text(&row.cfa, true), rule_text(&row.ra, false), rule_text(&row.fp, false)),
        None => println!("no row"),
    }
    Ok(())
}

extern "C" fn print_frame(frame: *const Frame, process: *mut c_void) -> c_int {
    let frame = unsafe { &*frame };
    let (mut name, mut offset) = ([0 as c_char; 256], 0u64);
    let status = unsafe { sframe_function_name(process, frame, name.as_mut_ptr(), name.len(), &mut offset) };
    let name = if status == NO_INFO { "?".to_string() } else { text(&name) };
    println!("#{} {:#x} {}+{:#x} [{}]", frame.number, frame.pc, name, offset, unsafe { CStr::from_ptr(frame.found_by) }.to_string_lossy());
    0
}

fn core(path: &str, executable: &str) -> Result<(), String> {
    let (path, executable) = (CString::new(path).unwrap(), CString::new(executable).unwrap());
    let mut options: Options = sized();
    options.executable = executable.as_ptr();
    let mut error: Error = sized();
    let process = unsafe { sframe_open_core(path.as_ptr(), &options, &mut error) };
    if process.is_null() {
        return Err(text(&error.message));
    }
    for thread in 0..unsafe { sframe_num_threads(process) } {
        let mut end: End = sized();
        if unsafe { sframe_walk(process, thread, print_frame, process, &mut end, &mut error) } != 0 {
            println!("{}", text(&error.message));
        } else {
            println!("{}", text(&end.reason));
        }
    }
    unsafe { sframe_close(process) };
    Ok(())
}

fn here() -> Result<(), String> {
    let (mut frames, mut reason) = ([0u64; 64], 0);
    let count = unsafe { sframe_here(frames.as_mut_ptr(), frames.len(), 0, &mut reason) };
    println!("{} frames: {}", count, unsafe { CStr::from_ptr(sframe_reason_text(reason)) }.to_string_lossy());
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["find", path, pc] => find(path, pc),
        ["core", path, executable] => core(path, executable),
        ["here"] => here(),
        _ => Err("find FILE PC | core FILE EXECUTABLE | here".to_string()),
    };
    if let Err(message) = result {
        eprintln!("{}", message);
        std::process::exit(1);
    }
}
