// A panic: an index past the end of a slice.
use std::hint::black_box;

#[inline(never)]
fn sample_at(samples: &[f64], position: usize) -> f64 {
    samples[position]
}

#[inline(never)]
fn average(samples: &[f64], positions: &[usize]) -> f64 {
    positions.iter().map(|&position| sample_at(samples, position)).sum::<f64>() / positions.len() as f64
}

fn main() {
    let samples = vec![1.0, 2.0, 3.0];
    println!("{}", average(black_box(&samples), black_box(&[0, 2, 3])));
}
