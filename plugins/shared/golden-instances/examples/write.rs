//! Prints an instance in the format of the Biq Mac library: `cargo run -p golden-instances --example write NAME`.

fn main() {
    let name = std::env::args().nth(1).expect("the name of an instance");
    print!("{}", golden_instances::to_sparse(&golden_instances::instance(&name).function));
}
