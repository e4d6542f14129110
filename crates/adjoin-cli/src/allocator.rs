//! The allocator, and how long it keeps what tensors leave behind.

use libmimalloc_sys::{mi_option_set_default, mi_option_t};

/// Tensors come and go in every step: an allocator that keeps their pages saves page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay`, to which the bindings give no name.
const PURGE_DELAY: mi_option_t = 15;

/// Much longer than a step of the largest networks takes.
const MILLISECONDS: i64 = 100_000;

/// Keeps freed pages for longer than a step. The allocator's own second is less than a step of a large network takes, so that
/// the system would clear the same pages for it again and again. `MIMALLOC_PURGE_DELAY` in the environment has
/// the last word.
#[allow(unsafe_code)] // The bindings are those of C.
pub fn keep_pages() {
    // SAFETY: the call stores a number in a table, after checking that the table has such an entry.
    unsafe { mi_option_set_default(PURGE_DELAY, MILLISECONDS as _) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use libmimalloc_sys::mi_option_get;

    /// Another version of the allocator might have another option in that place: 1000 is what it is known by.
    #[test]
    #[allow(unsafe_code)]
    fn the_option_is_the_one_that_is_meant() {
        if std::env::var_os("MIMALLOC_PURGE_DELAY").is_some() {
            return;
        }
        // SAFETY: reads a number.
        let get = || unsafe { mi_option_get(PURGE_DELAY) } as i64;
        assert_eq!(get(), 1000);
        keep_pages();
        assert_eq!(get(), MILLISECONDS);
    }
}
