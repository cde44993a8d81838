//! Memory that is refused ends the command in a sentence, with exit code 2, in place of SIGABRT.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use crate::ending;

/// The system's allocator. When it has no memory, what is unfinished is removed, and the process ends with a sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocator;

// SAFETY: every call is handed on to the system's allocator as it is, and what that returns is returned.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that are asked for.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that are asked for.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller's promises are those that are asked for.
        checked(unsafe { System.realloc(memory, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are those that are asked for.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn checked(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        refused(bytes);
    }
    memory
}

#[cold]
#[inline(never)]
fn refused(bytes: usize) {
    ending::out_of_memory(bytes);
}
