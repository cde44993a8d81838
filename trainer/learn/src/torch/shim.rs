//! The bindings of `shim.cpp`, made safe as far as that goes.

#![allow(unsafe_code)]
#![allow(clippy::cast_possible_wrap, reason = "libtorch counts in i64 and int, and nothing is that large")]

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use tch::{Kind, Tensor};

use super::{Place, failed};
use pipeline::accelerator::Result;

unsafe extern "C" {
    fn trisage_lend(
        data: *mut c_void,
        len: i64,
        floats: c_int,
        gpu: c_int,
        ended: unsafe extern "C" fn(*mut c_void),
        context: *mut c_void,
        tensor: *mut *mut c_void,
        message: *mut c_char,
        room: usize,
    ) -> c_int;
    fn trisage_deterministic(message: *mut c_char, room: usize) -> c_int;
    #[cfg(feature = "cuda")]
    fn trisage_enter_stream(
        gpu: c_int,
        stream: *mut c_void,
        before: *mut i64,
        message: *mut c_char,
        room: usize,
    ) -> c_int;
    #[cfg(feature = "cuda")]
    fn trisage_leave_stream(gpu: c_int, before: i64, message: *mut c_char, room: usize) -> c_int;
}

/// Calls a function of the shim that takes a buffer for a message and returns 0 if all is well.
fn checked(what: &str, f: impl FnOnce(*mut c_char, usize) -> c_int) -> Result<()> {
    let mut message = [0_u8; 1024];
    if f(message.as_mut_ptr().cast(), message.len()) == 0 {
        return Ok(());
    }
    let text = CStr::from_bytes_until_nul(&message).map(CStr::to_string_lossy).unwrap_or_default();
    Err(failed(format!("{what}: {}", text.lines().next().unwrap_or("no message"))))
}

/// Lets libtorch use only algorithms that give the same bits each time, for the rest of this process; what has none is an
/// error from then on.
pub(super) fn deterministic() -> Result<()> {
    // SAFETY: it writes no more than `room` bytes.
    checked("deterministic algorithms", |message, room| unsafe { trisage_deterministic(message, room) })
}

/// How long threads of autograd may take to let go of what they have worked on.
const LETTING_GO: Duration = Duration::from_secs(1);

/// Calls `f` with tensors over memory of the host or of a GPU.
///
/// # Errors
/// What libtorch says to the memory.
///
/// # Panics
/// If a tensor, or one that shares its memory, is still there after `f`: nothing would keep the memory from being refilled
/// under it.
///
/// # Safety
/// Each place is as long as it says, in the memory of this GPU or, if there is none, of the host; and is used by nobody else in
/// a way that conflicts with what `f` has libtorch do, until that is done.
pub(super) unsafe fn lend<const N: usize, R>(
    gpu: Option<usize>,
    places: [Place; N],
    f: impl FnOnce([Tensor; N]) -> R,
) -> Result<R> {
    unsafe extern "C" fn ended(lease: *mut c_void) {
        // SAFETY: it comes from `Arc::into_raw` below, and libtorch calls this once for each.
        drop(unsafe { Arc::from_raw(lease.cast_const().cast::<()>()) });
    }
    let lease = Arc::new(());
    let gpu = gpu.map_or(-1, |gpu| gpu as c_int);
    let mut tensors = Vec::with_capacity(N);
    for Place { address, len, kind } in places {
        let floats = c_int::from(kind == Kind::Float);
        let context = Arc::into_raw(Arc::clone(&lease)).cast_mut().cast();
        let mut tensor = std::ptr::null_mut();
        checked("memory of a slot as a tensor", |message, room| {
            let out = &raw mut tensor;
            // SAFETY: the place is as long as it says; `ended` takes the context back, once. No more than `room` bytes are
            // written.
            unsafe { trisage_lend(address, len as i64, floats, gpu, ended, context, out, message, room) }
        })?;
        // SAFETY: it is a new at::Tensor, which is what tch's pointers are to.
        tensors.push(unsafe { Tensor::from_ptr(tensor.cast()) });
    }
    let tensors = tensors.try_into().unwrap_or_else(|_| unreachable!("there is a tensor for each place"));
    let done = f(tensors);
    let begin = Instant::now();
    while Arc::strong_count(&lease) > 1 {
        assert!(begin.elapsed() < LETTING_GO, "a tensor over a slot was kept, which is a bug in trisage");
        thread::yield_now();
    }
    Ok(done)
}

/// A stream of CUDA that is this thread's current one for libtorch.
#[cfg(feature = "cuda")]
pub(super) struct Current {
    gpu: c_int,
    before: i64,
    /// It belongs to the thread.
    thread: std::marker::PhantomData<*const ()>,
}

#[cfg(feature = "cuda")]
impl Current {
    /// # Errors
    /// What libtorch says, if its part for CUDA is not loaded perhaps.
    ///
    /// # Safety
    /// The stream is of this GPU, and lives longer than what comes back and all work that libtorch gives it meanwhile.
    pub(super) unsafe fn enter(gpu: usize, stream: *mut c_void) -> Result<Self> {
        let (gpu, mut before) = (gpu as c_int, 0);
        checked("the stream of a GPU", |message, room| {
            // SAFETY: the caller vouches for the stream. No more than `room` bytes are written.
            unsafe { trisage_enter_stream(gpu, stream, &raw mut before, message, room) }
        })?;
        Ok(Self { gpu, before, thread: std::marker::PhantomData })
    }
}

#[cfg(feature = "cuda")]
impl Drop for Current {
    fn drop(&mut self) {
        // SAFETY: the stream is one that was current before. No more than `room` bytes are written.
        let left = checked("the stream of a GPU", |message, room| unsafe {
            trisage_leave_stream(self.gpu, self.before, message, room)
        });
        // Entering has done the same, so only a bug makes this fail; nothing of libtorch may be used on this thread then.
        left.expect("libtorch goes back to the stream that it had");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    fn place(elements: &mut [i32], kind: Kind) -> Place {
        Place { address: elements.as_mut_ptr().cast(), len: elements.len(), kind }
    }

    #[test]
    fn tensors_are_over_the_memory_itself() {
        let (mut ids, mut results) = ([7, -8, 9], [0; 2]);
        let places = [place(&mut ids, Kind::Int), place(&mut results, Kind::Float), place(&mut [], Kind::Int)];
        let lent = |[ids, results, none]: [Tensor; 3]| {
            assert_eq!((ids.kind(), ids.device(), none.size()), (Kind::Int, Device::Cpu, vec![0]));
            results.narrow(0, 1, 1).copy_(&ids.sum(Kind::Float));
        };
        // SAFETY: the arrays are here until the end, and nobody else uses them meanwhile.
        unsafe { lend(None, places, lent) }.unwrap();
        assert_eq!(results.map(i32::cast_unsigned), [0.0, 8.0].map(f32::to_bits));
    }

    #[test]
    fn what_autograd_remembers_is_let_go() {
        let (weights, mut ids) = (Tensor::ones([5, 2], (Kind::Float, Device::Cpu)).set_requires_grad(true), [4, 0, 4]);
        let gather = |[ids]: [Tensor; 1]| weights.index_select(0, &ids).square().sum(Kind::Float).backward();
        // SAFETY: as above.
        unsafe { lend(None, [place(&mut ids, Kind::Int)], gather) }.unwrap();
        assert_eq!(weights.grad().sum(Kind::Int64).int64_value(&[]), 12);
    }

    #[test]
    #[should_panic(expected = "a tensor over a slot was kept")]
    fn a_tensor_that_is_kept_is_noticed() {
        let mut ids = [1, 2, 3];
        // SAFETY: as above; the part that is kept is not used any more.
        let _kept = unsafe { lend(None, [place(&mut ids, Kind::Int)], |[ids]| ids.narrow(0, 1, 1)) };
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn a_stream_of_a_gpu_that_libtorch_does_not_know_is_an_error() {
        // SAFETY: no GPU is there that could use the stream.
        let entered = unsafe { Current::enter(4_096, std::ptr::null_mut()) };
        let error = entered.err().unwrap().to_string();
        assert!(error.starts_with("libtorch: the stream of a GPU: ") && !error.contains('\n'), "{error}");
    }
}
