//! Independent runs side by side.

use crate::Result;
use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// Runs a task for every seed, as many at once as there are threads, and gives the results in the
/// order of the seeds. Seeds side by side beat threads inside a seed, so every worker has one small
/// pool of its own. After a failure no further seed is started.
///
/// # Errors
/// The first error of any seed.
pub(crate) fn side_by_side<S: Sync, R: Send>(
    seeds: &[S],
    threads: usize,
    task: impl Fn(&S) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let workers = threads.clamp(1, seeds.len().max(1));
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<R>>>> = seeds.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let pool =
                    rayon::ThreadPoolBuilder::new().num_threads((threads / workers).max(1)).build();
                while let Some(at) = claim(&next, seeds.len()) {
                    let run = || task(&seeds[at]);
                    let result = match &pool {
                        Ok(pool) => pool.install(run),
                        Err(_) => run(),
                    };
                    let failed = result.is_err();
                    *lock(&results[at]) = Some(result);
                    if failed {
                        next.store(seeds.len(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let finished =
        results.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    finished.flatten().collect()
}

fn claim(next: &AtomicUsize, count: usize) -> Option<usize> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    (at < count).then_some(at)
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
