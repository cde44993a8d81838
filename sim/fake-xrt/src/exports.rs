//! The C functions. Each asks first whether it is to go wrong.

#![allow(non_snake_case, reason = "the names are XRT's")]
#![allow(clippy::cast_sign_loss, reason = "a fault's value is taken bit by bit")]
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "callers are C, and pass what the headers of XRT say")]

use std::{
    ffi::{c_char, c_int, c_void},
    ptr::{self, NonNull},
};

use errno::{Errno, set_errno};

use crate::{
    fault::Fault,
    text,
    world::{World, world},
};

/// What stands behind a handle, by number.
fn id(handle: *mut c_void) -> usize {
    handle.addr()
}

fn handle(id: usize) -> *mut c_void {
    ptr::without_provenance_mut(id)
}

/// Does a call: `failed` is what it returns without success, `wrong` makes what a fault returns.
fn call<T>(
    function: &str,
    card: impl FnOnce(&World) -> Option<u32>,
    body: impl FnOnce(&mut World) -> Result<T, i32>,
    wrong: impl FnOnce(i64) -> T,
    failed: T,
) -> T {
    let mut world = world();
    let card = card(&world);
    if let Some(fault) = card.and_then(|card| world.meet(card, function)) {
        set_errno(Errno(fault.errno));
        return wrong(fault.value);
    }
    match body(&mut world) {
        Ok(value) => value,
        Err(errno) => {
            if errno != 0 {
                set_errno(Errno(errno));
            }
            failed
        }
    }
}

/// A call that returns 0 or -1.
fn done(function: &str, of: *mut c_void, body: impl FnOnce(&mut World) -> Result<(), i32>) -> c_int {
    call(function, |world| world.card_of(id(of)), |world| body(world).map(|()| 0), |value| value as c_int, -1)
}

/// A call that returns a handle.
fn made(function: &str, of: *mut c_void, body: impl FnOnce(&mut World) -> Result<usize, i32>) -> *mut c_void {
    handle(call(function, |world| world.card_of(id(of)), body, |value| value as usize, 0))
}

#[unsafe(no_mangle)]
extern "C" fn xrtDeviceOpen(index: u32) -> *mut c_void {
    handle(call("xrtDeviceOpen", |_| Some(index), |world| Ok(world.open(index)), |value| value as usize, 0))
}

/// The card whose number is the bus in the address.
#[unsafe(no_mangle)]
extern "C" fn xrtDeviceOpenByBDF(bdf: *const c_char) -> *mut c_void {
    let bdf = text(bdf);
    let bus = bdf.rsplit(':').nth(1).and_then(|bus| u32::from_str_radix(bus, 16).ok());
    let open = |world: &mut World| Ok(world.open(bus.ok_or(libc::EINVAL)?));
    handle(call("xrtDeviceOpenByBDF", |_| bus, open, |value| value as usize, 0))
}

#[unsafe(no_mangle)]
extern "C" fn xrtDeviceClose(device: *mut c_void) -> c_int {
    done("xrtDeviceClose", device, |world| world.close(id(device)))
}

#[unsafe(no_mangle)]
extern "C" fn xrtDeviceLoadXclbinFile(device: *mut c_void, path: *const c_char) -> c_int {
    done("xrtDeviceLoadXclbinFile", device, |world| world.load(id(device), &text(path)))
}

#[unsafe(no_mangle)]
extern "C" fn xrtDeviceGetXclbinUUID(device: *mut c_void, uuid: *mut u8) -> c_int {
    done("xrtDeviceGetXclbinUUID", device, |world| {
        let found = world.uuid(id(device))?;
        // SAFETY: the caller has room for a `xuid_t`.
        unsafe { ptr::copy_nonoverlapping(found.as_ptr(), uuid, found.len()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn xrtPLKernelOpenExclusive(device: *mut c_void, xclbin: *const u8, name: *const c_char) -> *mut c_void {
    // SAFETY: the caller has a `xuid_t` there.
    let uuid = unsafe { ptr::read_unaligned(xclbin.cast()) };
    made("xrtPLKernelOpenExclusive", device, |world| world.open_kernel(id(device), uuid, &text(name)))
}

#[unsafe(no_mangle)]
extern "C" fn xrtKernelClose(kernel: *mut c_void) -> c_int {
    done("xrtKernelClose", kernel, |world| world.close(id(kernel)))
}

#[unsafe(no_mangle)]
extern "C" fn xrtKernelArgGroupId(kernel: *mut c_void, argument: c_int) -> c_int {
    let group = |world: &mut World| world.group(id(kernel), argument);
    call("xrtKernelArgGroupId", |world| world.card_of(id(kernel)), group, |value| value as c_int, -1)
}

#[unsafe(no_mangle)]
extern "C" fn xrtKernelArgOffset(kernel: *mut c_void, argument: c_int) -> u32 {
    let offset = |world: &mut World| world.offset(id(kernel), argument);
    call("xrtKernelArgOffset", |world| world.card_of(id(kernel)), offset, |value| value as u32, u32::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn xrtKernelReadRegister(kernel: *mut c_void, offset: u32, value: *mut u32) -> c_int {
    done("xrtKernelReadRegister", kernel, |world| {
        let found = world.register(id(kernel), offset)?;
        // SAFETY: the caller has room for a word.
        unsafe { value.write(found) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn xrtRunOpen(kernel: *mut c_void) -> *mut c_void {
    made("xrtRunOpen", kernel, |world| world.open_run(id(kernel)))
}

/// Variadic in C, which a stable Rust cannot define; see [`World::set_argument`].
#[unsafe(no_mangle)]
extern "C" fn xrtRunSetArg(run: *mut c_void, argument: c_int, value: u64) -> c_int {
    done("xrtRunSetArg", run, |world| world.set_argument(id(run), argument, value))
}

#[unsafe(no_mangle)]
extern "C" fn xrtRunStart(run: *mut c_void) -> c_int {
    done("xrtRunStart", run, |world| world.start(id(run)))
}

#[unsafe(no_mangle)]
extern "C" fn xrtRunState(run: *mut c_void) -> c_int {
    let state = |world: &mut World| world.state(id(run));
    // ABORT stands for an error.
    call("xrtRunState", |world| world.card_of(id(run)), state, |value| value as c_int, 6)
}

#[unsafe(no_mangle)]
extern "C" fn xrtRunClose(run: *mut c_void) -> c_int {
    done("xrtRunClose", run, |world| world.close(id(run)))
}

#[unsafe(no_mangle)]
extern "C" fn xrtBOAlloc(device: *mut c_void, bytes: usize, flags: u64, group: u32) -> *mut c_void {
    // Peer-to-peer memory may fail where other memory does not.
    let function = if flags == 0 { "xrtBOAlloc" } else { "xrtBOAlloc.p2p" };
    made(function, device, |world| world.allocate(id(device), bytes, flags, group))
}

#[unsafe(no_mangle)]
extern "C" fn xrtBOAllocUserPtr(
    device: *mut c_void,
    memory: *mut c_void,
    bytes: usize,
    _flags: u64,
    group: u32,
) -> *mut c_void {
    let start = NonNull::new(memory.cast());
    made("xrtBOAllocUserPtr", device, |world| world.share(id(device), start, bytes, group))
}

#[unsafe(no_mangle)]
extern "C" fn xrtBOImport(device: *mut c_void, exported: i32) -> *mut c_void {
    made("xrtBOImport", device, |world| world.import(id(device), exported))
}

#[unsafe(no_mangle)]
extern "C" fn xrtBOFree(buffer: *mut c_void) -> c_int {
    done("xrtBOFree", buffer, |world| world.close(id(buffer)))
}

#[unsafe(no_mangle)]
extern "C" fn xrtBOSize(buffer: *mut c_void) -> usize {
    let size = |world: &mut World| world.size(id(buffer));
    call("xrtBOSize", |world| world.card_of(id(buffer)), size, |value| value as usize, usize::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn xrtBOAddress(buffer: *mut c_void) -> u64 {
    let address = |world: &mut World| world.address(id(buffer));
    call("xrtBOAddress", |world| world.card_of(id(buffer)), address, i64::cast_unsigned, u64::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn xrtBOMap(buffer: *mut c_void) -> *mut c_void {
    let map = |world: &mut World| world.map(id(buffer)).map(|start| start.as_ptr().cast());
    call("xrtBOMap", |world| world.card_of(id(buffer)), map, |value| handle(value as usize), ptr::null_mut())
}

#[unsafe(no_mangle)]
extern "C" fn xrtBOSync(buffer: *mut c_void, direction: c_int, bytes: usize, offset: usize) -> c_int {
    done("xrtBOSync", buffer, |world| {
        if world.card_of(id(buffer)).and_then(|card| world.meet(card, "bus")).is_some() {
            // SAFETY: it ends the process, or runs the handler that someone has set.
            unsafe { libc::raise(libc::SIGBUS) };
        }
        let whole_lines = world.card_of(id(buffer)).and_then(|card| world.meet(card, "whole-lines")).is_some();
        if whole_lines && !bytes.is_multiple_of(hw::card::LINE_BYTES) {
            return Err(libc::EINVAL);
        }
        world.sync(id(buffer), direction == 0, bytes, offset)
    })
}

#[unsafe(no_mangle)]
extern "C" fn xrtBOWrite(buffer: *mut c_void, source: *const c_void, bytes: usize, seek: usize) -> c_int {
    // SAFETY: the caller has so many bytes there.
    let source = unsafe { std::slice::from_raw_parts(source.cast(), bytes) };
    done("xrtBOWrite", buffer, |world| world.write(id(buffer), source, seek))
}

#[unsafe(no_mangle)]
extern "C" fn xrtBORead(buffer: *mut c_void, destination: *mut c_void, bytes: usize, skip: usize) -> c_int {
    // SAFETY: the caller has room for so many bytes there.
    let destination = unsafe { std::slice::from_raw_parts_mut(destination.cast(), bytes) };
    done("xrtBORead", buffer, |world| world.read(id(buffer), destination, skip))
}

#[unsafe(no_mangle)]
extern "C" fn xrtBOCopy(to: *mut c_void, from: *mut c_void, bytes: usize, at: usize, skip: usize) -> c_int {
    done("xrtBOCopy", to, |world| world.copy((id(to), at), (id(from), skip), bytes))
}

/// Sets what goes wrong on a card; -1 if it is no fault.
#[unsafe(no_mangle)]
extern "C" fn trisage_fake_inject(card: u32, faults: *const c_char) -> c_int {
    match Fault::list(&text(faults)) {
        Some(faults) => {
            world().card(card).faults = faults;
            0
        }
        None => -1,
    }
}

/// Handles of a card that are open.
#[unsafe(no_mangle)]
extern "C" fn trisage_fake_open_handles(card: u32) -> u32 {
    world().open_handles(card) as u32
}

/// What the real XRT would not have survived.
#[unsafe(no_mangle)]
extern "C" fn trisage_fake_violations(card: u32) -> u32 {
    world().card(card).violations
}
