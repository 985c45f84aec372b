// Rust's types: numbers of all sizes, structures, tuples, slices, strings, boxes, enumerations of three kinds.
use std::hint::black_box;

#[derive(Clone, Copy)]
enum Color {
    Red = 1,
    Blue = 3,
}

#[derive(Clone)]
enum Shape {
    Empty,
    Circle(f64),
    Box { width: u32, height: u32 },
}

struct Node {
    name: String,
    shape: Shape,
    color: Color,
    next: Option<Box<Node>>,
    at: (i16, u8),
}

struct Meters(f32);

trait Area {
    fn area(&self, scale: f64) -> f64;
}

impl Area for Node {
    #[inline(never)]
    fn area(&self, scale: f64) -> f64 {
        let area = match &self.shape {
            Shape::Empty => 0.0,
            Shape::Circle(radius) => scale * radius,
            Shape::Box { width, height } => scale * f64::from(width * height),
        };
        let next = self.next.as_ref().map(|next| next.area(scale * 2.0));
        total(area, next, &self.name, &[1, 2, 3, self.at.0], self.color)
    }
}

#[inline(never)]
fn total(area: f64, next: Option<f64>, name: &str, list: &[i16], color: Color) -> f64 {
    let last = list[list.len() - 1];
    let code = color as i32;
    if last < 0 {
        integers(-3, 200, -1000, 60000, u64::MAX, i128::from(code) << 70, true, 'é', &Meters(2.5));
    }
    black_box(area) + next.unwrap_or(0.0) + name.len() as f64
}

#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn integers(a: i8, b: u8, c: i16, d: u16, e: u64, f: i128, yes: bool, letter: char, far: &Meters) {
    let sum = i64::from(a) + i64::from(b) + i64::from(c) + i64::from(d);
    let values = [a, -a, 7];
    let pair = (sum, yes);
    let words: Vec<&str> = vec!["one", "two"];
    let nothing: Option<&Meters> = None;
    let some = Some(far);
    black_box((&values, &pair, &words, &nothing, &some, &e, &f, &letter));
    black_box(words.get(usize::from(d)).map(|word| word.len()).unwrap());
}

fn main() {
    let last = Node { name: "last".into(), shape: Shape::Circle(1.5), color: Color::Blue, next: None, at: (-2, 9) };
    let first = Node {
        name: String::from("first"),
        shape: Shape::Box { width: 3, height: 4 },
        color: Color::Red,
        next: Some(Box::new(last)),
        at: (4, 8),
    };
    let empty = Node { name: String::new(), shape: Shape::Empty, color: Color::Red, next: Some(Box::new(first)), at: (0, 0) };
    let shape: &dyn Area = black_box(&empty);
    println!("{}", shape.area(1.0));
}
