//! Work on all cores, or on as many threads as the system gives.

use std::thread::Builder;

/// What `work` makes of each part, in order: each on a thread of its own, or here where there is none to be had.
pub(crate) fn parallel<P: Sync, T: Send>(parts: &[P], work: impl Fn(&P) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let begun: Vec<_> =
            parts.iter().map(|part| (part, Builder::new().spawn_scoped(scope, move || work(part)))).collect();
        let finish = |(part, worker): (_, std::io::Result<std::thread::ScopedJoinHandle<'_, T>>)| match worker
        {
            Ok(worker) => worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => work(part),
        };
        begun.into_iter().map(finish).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stay_in_order() {
        let parts: Vec<usize> = (0..20).collect();
        assert_eq!(
            parallel(&parts, |part| part * part),
            parts.iter().map(|part| part * part).collect::<Vec<_>>()
        );
    }
}
