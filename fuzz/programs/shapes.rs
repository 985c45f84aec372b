// Rust's types in frames, without its libraries: enumerations of several kinds, with and without a value for
// their kind, structures, tuples, slices, strings, numbers of all sizes.
#![no_std]
#![no_main]

extern "C" {
    fn end_process();
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

#[derive(Clone, Copy)]
enum Color {
    Red = 1,
    Blue = 3,
}

enum Shape<'a> {
    Empty,
    Circle(f64),
    Box { width: u32, height: u32 },
    Named(&'a str),
}

struct Node<'a> {
    shape: Shape<'a>,
    color: Color,
    next: Option<&'a Node<'a>>,
    at: (i16, u8),
}

struct Meters(f32);

#[inline(never)]
fn show(node: &Node, shapes: &[Shape], text: &str, a: i8, b: u64, c: i128, letter: char, yes: bool, far: &Meters) -> i32 {
    let pair = (a, node.at);
    let values = [1i16, -2, 3];
    let nothing: Option<u32> = None;
    let some = Some(Color::Red);
    let unit = ();
    let function: fn(i32) -> i32 = twice;
    unsafe { end_process() };
    let _ = (&shapes, &text, &b, &c, &letter, &yes, &far, &unit);
    function(pair.0 as i32 + values.len() as i32 + nothing.is_some() as i32 + some.is_some() as i32)
}

#[inline(never)]
fn twice(n: i32) -> i32 {
    n << 1
}

#[no_mangle]
pub extern "C" fn main() -> i32 {
    let last = Node { shape: Shape::Circle(1.5), color: Color::Red, next: None, at: (-4, 5) };
    let first = Node { shape: Shape::Named("a name"), color: Color::Blue, next: Some(&last), at: (-2, 3) };
    let shapes = [Shape::Empty, Shape::Box { width: 7, height: 9 }, Shape::Circle(0.25)];
    show(&first, &shapes, "caf\u{e9}", -3, u64::MAX, -(1i128 << 70), '\u{e9}', true, &Meters(2.5))
}
