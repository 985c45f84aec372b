// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface in Go, by cgo:
//
//	CGO_CFLAGS=-I$PWD/interfaces/c/include CGO_LDFLAGS=-L$PWD/build/release/lib go build examples/stacks.go
//
//	stacks find FILE PC          the row for an address, from the SFrame section of an ELF file
//	stacks core FILE EXECUTABLE  all threads of a core
package main

/*
#cgo LDFLAGS: -lsframe-c
#include <sframe/c/section.h>
#include <sframe/c/walk.h>
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"
)

func newError() *C.sframe_error {
	return &C.sframe_error{size: C.sizeof_sframe_error}
}

func failure(err *C.sframe_error) error {
	return errors.New(C.GoString(&err.message[0]))
}

func ruleText(abi *C.char, rule *C.sframe_rule, isCfa C.int) string {
	var buffer [32]C.char
	C.sframe_rule_text(abi, rule, isCfa, &buffer[0], C.size_t(len(buffer)))
	return C.GoString(&buffer[0])
}

func find(path string, pc uint64) error {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	problem := newError()
	file := C.sframe_file_open(name, problem)
	if file == nil {
		return failure(problem)
	}
	defer C.sframe_file_close(file)
	for i := C.size_t(0); i < C.sframe_file_num_sections(file); i++ {
		section := C.sframe_file_section(file, i)
		info := C.sframe_section_info{size: C.sizeof_sframe_section_info}
		row := C.sframe_row{size: C.sizeof_sframe_row}
		C.sframe_section_get_info(section, &info)
		switch C.sframe_section_find(section, C.uint64_t(pc), nil, &row, problem) {
		case C.SFRAME_OK:
			fmt.Println(ruleText(info.abi, &row.cfa, 1), ruleText(info.abi, &row.ra, 0), ruleText(info.abi, &row.fp, 0))
			return nil
		case C.SFRAME_NO_INFO:
		default:
			return failure(problem)
		}
	}
	fmt.Println("no row")
	return nil
}

// Frames go into an array: a callback would have to be exported to C.
func printThread(process *C.sframe_process, thread C.size_t) error {
	var frames [128]C.sframe_frame
	frames[0].size = C.sizeof_sframe_frame
	var count C.size_t
	end := C.sframe_end{size: C.sizeof_sframe_end}
	problem := newError()
	if C.sframe_walk_into(process, thread, &frames[0], C.size_t(len(frames)), &count, &end, problem) != C.SFRAME_OK {
		return failure(problem)
	}
	for i := range frames[:count] {
		frame := &frames[i]
		var name [256]C.char
		var offset C.uint64_t
		name[0] = '?'
		C.sframe_function_name(process, frame, &name[0], C.size_t(len(name)), &offset)
		fmt.Printf("#%d %#x %s+%#x [%s]\n", frame.number, uint64(frame.pc), C.GoString(&name[0]), uint64(offset), C.GoString(frame.found_by))
	}
	fmt.Println(C.GoString(&end.reason[0]))
	return nil
}

func core(path, executable string) error {
	name, program := C.CString(path), C.CString(executable)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(program))
	// A struct with pointers that is passed to C: in C memory.
	options := (*C.sframe_options)(C.calloc(1, C.sizeof_sframe_options))
	defer C.free(unsafe.Pointer(options))
	options.size = C.sizeof_sframe_options
	options.executable = program
	problem := newError()
	process := C.sframe_open_core(name, options, problem)
	if process == nil {
		return failure(problem)
	}
	defer C.sframe_close(process)
	for i := C.size_t(0); i < C.sframe_num_threads(process); i++ {
		if err := printThread(process, i); err != nil {
			return err
		}
	}
	return nil
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 3 && arguments[0] == "find":
		pc, err := strconv.ParseUint(arguments[2], 0, 64)
		if err != nil {
			return err
		}
		return find(arguments[1], pc)
	case len(arguments) == 3 && arguments[0] == "core":
		return core(arguments[1], arguments[2])
	}
	return errors.New("find FILE PC | core FILE EXECUTABLE")
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
