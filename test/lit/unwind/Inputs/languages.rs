// Panics of several kinds; the argument selects one.
use std::cell::RefCell;
use std::hint::black_box;

#[inline(never)]
fn fail(kind: &str) {
    let values: Vec<i32> = black_box(vec![1, 2, 3]);
    let nothing: Option<i32> = black_box(None);
    match kind {
        "unwrap" => println!("{}", nothing.unwrap()),
        "expect" => println!("{}", nothing.expect("a number of users")),
        "result" => println!("{}", "no number".parse::<i32>().unwrap()),
        "bounds" => println!("{}", values[black_box(7)]),
        "text" => panic!("a plain text"),
        "lines" => panic!("{} lines\nof text", values[1]),
        "borrow" => {
            let cell = RefCell::new(1);
            let _first = cell.borrow_mut();
            println!("{}", cell.borrow_mut());
        }
        "thread" => {
            let thread = std::thread::spawn(|| panic!("in a thread: {}", black_box(3)));
            println!("{}", thread.join().is_ok());
        }
        "drop" => {
            struct Twice;
            impl Drop for Twice {
                fn drop(&mut self) {
                    panic!("while it unwinds");
                }
            }
            let _twice = Twice;
            panic!("the first of {}", values[1]);
        }
        "hook" => {
            std::panic::set_hook(Box::new(|_| {}));
            panic!("a hook that is silent: {}", values[0]);
        }
        "value" => std::panic::panic_any(values[0]),
        "abort" => std::process::abort(),
        _ => {}
    }
}

fn main() {
    fail(&std::env::args().nth(1).unwrap());
}
