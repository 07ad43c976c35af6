//! What a chain asks of the machine: no memory while it steps, and the instruction set that it was told to use.

#![expect(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout as MemoryLayout, System};
use std::cell::Cell;
use std::process::Command;

use plugin_api::random::normal;
use plugin_api::{DrawRequest, Layout, Surrogate, rng};
use surrogate_horseshoe::by_terms::Moments;
use surrogate_horseshoe::chain::{Chain, NoisePrior, State};
use surrogate_horseshoe::coefficients::choose;
use surrogate_horseshoe::kernel::Kernel;
use surrogate_horseshoe::observations::Observations;
use surrogate_horseshoe::regression::Regression;

/// The system's, counting the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Bytes that were allocated and not given back.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every call is handed on to the system's allocator as it came; a counter without destructor allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: MemoryLayout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        HELD.set(HELD.get() + layout.size() as isize);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: MemoryLayout) {
        HELD.set(HELD.get() - layout.size() as isize);
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: MemoryLayout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        HELD.set(HELD.get() + size as isize - layout.size() as isize);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn observations(bits: usize, order: usize, count: usize) -> Observations {
    let (layout, mut random) = (Layout::free(bits), rng(1));
    let mut observations = Observations::new(&layout, order);
    while observations.count() < count {
        let x = layout.random(&mut random);
        let value = f64::from(u8::from(x[0])) + normal(&mut random);
        observations.add(&x, value).expect("a point of the layout");
    }
    observations
}

#[test]
fn a_step_allocates_nothing() {
    // Fewer points than terms, more, terms of three, and more than one word of bits.
    for (bits, order, count) in [(12, 2, 40), (6, 2, 60), (8, 3, 30), (6, 1, 30), (70, 2, 20)] {
        let observations = observations(bits, order, count);
        let regression = Regression::new(&observations, &observations.targets(), true);
        for kernel in Kernel::available() {
            let mut way = choose(&regression, &observations, &mut Moments::default(), kernel);
            let mut chain = Chain::new(&regression, way.as_mut(), NoisePrior::default());
            let (mut state, mut random) = (State::cold(observations.design().columns()), rng(2));
            chain.step(&mut state, &mut random).unwrap();
            let before = ALLOCATIONS.get();
            for _ in 0..20 {
                chain.step(&mut state, &mut random).unwrap();
            }
            assert_eq!(ALLOCATIONS.get() - before, 0, "{bits} bits, order {order}, {kernel:?}");
        }
    }
    let before = ALLOCATIONS.get();
    std::hint::black_box(vec![1.0]);
    assert_eq!(ALLOCATIONS.get() - before, 1, "the counter counts");
}

#[test]
fn draws_leave_no_memory_behind() {
    let (layout, mut random) = (Layout::free(30), rng(3));
    for order in 1..=3 {
        let json = format!(r#"{{ "order": {order}, "steps": 2 }}"#);
        let mut surrogate = surrogate_horseshoe::surrogate(&json, &layout).unwrap();
        for _ in 0..40 {
            surrogate.observe(&layout.random(&mut random), &normal(&mut random).into()).unwrap();
        }
        surrogate.draw(&DrawRequest::new(0)).unwrap();
        let before = HELD.get();
        for seed in 1..30 {
            surrogate.draw(&DrawRequest::new(seed)).unwrap();
            surrogate.save().unwrap();
        }
        assert_eq!(HELD.get() - before, 0, "order {order}");
    }
}

/// What the test below starts as a process of its own.
#[test]
fn the_kernel_of_the_environment_is_known() {
    println!("kernel: {}", Kernel::from_environment().unwrap().name());
}

#[test]
fn the_environment_chooses_the_kernel() {
    let run = |name: Option<&str>| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "the_kernel_of_the_environment_is_known", "--nocapture"]);
        command.env_remove("HORSESHOE_KERNEL").envs(name.map(|name| ("HORSESHOE_KERNEL", name)));
        let output = command.output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    };
    for kernel in Kernel::available() {
        let (success, text) = run(Some(kernel.name()));
        assert!(success && text.contains(&format!("kernel: {}\n", kernel.name())), "{text}");
    }
    let (success, text) = run(None);
    assert!(success && text.contains(&format!("kernel: {}\n", Kernel::fastest().name())), "{text}");
    let (success, text) = run(Some("sse9"));
    assert!(
        !success && text.contains("HORSESHOE_KERNEL is `sse9`, not one that this machine has: "),
        "{text}"
    );
}
