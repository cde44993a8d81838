//! All cards, and what every handle stands for. Errors are values of `errno`.

use std::{
    collections::{BTreeMap, HashMap},
    env,
    ptr::NonNull,
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI32, Ordering::Relaxed},
    },
    thread,
};

use hw::{
    kernel_xml::{KERNEL, UNITS},
    registers::{self, ARGS},
    xclbin::Xclbin,
};

use crate::{
    card::Card,
    fault::{self, Fault},
    kernel::{self, Arguments, TABLE_LOG2, Trouble},
    store::Store,
};

/// States of a run (`enum ert_cmd_state`).
const NEW: i32 = 1;
const RUNNING: i32 = 3;
const COMPLETED: i32 = 4;
const ERROR: i32 = 5;

const PAGE: usize = 4096;
/// `XCL_BO_FLAGS_P2P`.
const PEER_TO_PEER: u64 = 1 << 30;

/// What a handle stands for.
enum Object {
    Device {
        card: u32,
    },
    Kernel {
        card: u32,
        device: usize,
        unit: usize,
    },
    Run {
        card: u32,
        kernel: usize,
        unit: usize,
        args: Box<Arguments>,
        buffers: HashMap<i32, usize>,
        state: Arc<AtomicI32>,
    },
    Buffer(Buffer),
}

#[derive(Clone)]
struct Buffer {
    card: u32,
    device: usize,
    /// What the host sees.
    host: Arc<Store>,
    /// What the card sees, and where; imported memory is not the card's.
    place: Option<(Arc<Store>, u64)>,
}

impl Object {
    fn card(&self) -> u32 {
        match self {
            Self::Device { card } | Self::Kernel { card, .. } | Self::Run { card, .. } => *card,
            Self::Buffer(buffer) => buffer.card,
        }
    }
}

/// Everything.
pub(crate) struct World {
    objects: BTreeMap<usize, Object>,
    next: usize,
    cards: HashMap<u32, Card>,
}

type Outcome<T> = Result<T, i32>;

static WORLD: LazyLock<Mutex<World>> =
    LazyLock::new(|| Mutex::new(World { objects: BTreeMap::new(), next: 0x1000, cards: HashMap::new() }));

pub(crate) fn world() -> MutexGuard<'static, World> {
    WORLD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn channels(xclbin: &Xclbin, unit: usize) -> usize {
    let first = registers::id_of("indices0");
    let ip = xclbin.unit(KERNEL, UNITS[unit]).unwrap_or(usize::MAX);
    (first..ARGS.len()).filter(|&arg| xclbin.memory_of(ip, arg).is_some()).count()
}

impl World {
    pub(crate) fn card(&mut self, card: u32) -> &mut Card {
        self.cards.entry(card).or_insert_with(|| {
            let faults = env::var("TRISAGE_FAKE_XRT").ok().and_then(|text| Fault::list(&text));
            Card::new(faults.unwrap_or_default())
        })
    }

    pub(crate) fn card_of(&self, handle: usize) -> Option<u32> {
        self.objects.get(&handle).map(Object::card)
    }

    /// The fault that meets a call.
    pub(crate) fn meet(&mut self, card: u32, what: &str) -> Option<Fault> {
        fault::meet(&mut self.card(card).faults, what)
    }

    pub(crate) fn open_handles(&self, card: u32) -> usize {
        self.objects.values().filter(|object| object.card() == card).count()
    }

    fn add(&mut self, object: Object) -> usize {
        self.next += 0x10;
        self.objects.insert(self.next, object);
        self.next
    }

    fn violation(&mut self, card: u32) {
        self.card(card).violations += 1;
    }

    fn device(&self, handle: usize) -> Outcome<u32> {
        match self.objects.get(&handle) {
            Some(Object::Device { card }) => Ok(*card),
            _ => Err(libc::EINVAL),
        }
    }

    fn kernel(&self, handle: usize) -> Outcome<(u32, usize)> {
        match self.objects.get(&handle) {
            Some(Object::Kernel { card, unit, .. }) => Ok((*card, *unit)),
            _ => Err(libc::EINVAL),
        }
    }

    fn buffer(&self, handle: usize) -> Outcome<Buffer> {
        match self.objects.get(&handle) {
            Some(Object::Buffer(buffer)) => Ok(buffer.clone()),
            _ => Err(libc::EINVAL),
        }
    }

    fn xclbin(&mut self, card: u32) -> Outcome<Arc<Xclbin>> {
        self.card(card).xclbin.clone().ok_or(libc::EINVAL)
    }

    pub(crate) fn open(&mut self, card: u32) -> usize {
        self.add(Object::Device { card })
    }

    pub(crate) fn load(&mut self, device: usize, path: &str) -> Outcome<()> {
        let card = self.device(device)?;
        let bytes = std::fs::read(path).map_err(|_| 0)?;
        let xclbin = Xclbin::read(&bytes).map_err(|_| libc::EINVAL)?;
        self.card(card).xclbin = Some(Arc::new(xclbin));
        Ok(())
    }

    pub(crate) fn uuid(&mut self, device: usize) -> Outcome<[u8; 16]> {
        let card = self.device(device)?;
        Ok(self.xclbin(card)?.uuid)
    }

    pub(crate) fn open_kernel(&mut self, device: usize, uuid: [u8; 16], name: &str) -> Outcome<usize> {
        let card = self.device(device)?;
        let named = |unit: &usize| name == format!("{KERNEL}:{{{}}}", UNITS[*unit]);
        let unit = (0..UNITS.len()).find(named).ok_or(libc::EINVAL)?;
        let taken =
            |object: &Object| matches!(object, Object::Kernel { card: c, unit: u, .. } if (*c, *u) == (card, unit));
        if self.xclbin(card)?.uuid != uuid {
            return Err(libc::EINVAL);
        }
        if self.objects.values().any(taken) {
            return Err(libc::EBUSY);
        }
        Ok(self.add(Object::Kernel { card, device, unit }))
    }

    pub(crate) fn group(&mut self, kernel: usize, argument: i32) -> Outcome<i32> {
        let (card, unit) = self.kernel(kernel)?;
        let xclbin = self.xclbin(card)?;
        let id = usize::try_from(argument).ok().filter(|&id| id < crate::arguments(channels(&xclbin, unit)));
        if id.is_none_or(|id| ARGS[id].port.is_none()) {
            return Err(0);
        }
        let ip = xclbin.unit(KERNEL, UNITS[unit]);
        let mine = |c: &&hw::xclbin::Connection| Some(c.ip as usize) == ip && Some(c.arg as usize) == id;
        Ok(xclbin.connections.iter().find(mine).map_or(0xFFFF, |connection| connection.memory.cast_signed()))
    }

    pub(crate) fn offset(&mut self, kernel: usize, argument: i32) -> Outcome<u32> {
        let (card, unit) = self.kernel(kernel)?;
        let xclbin = self.xclbin(card)?;
        let id = usize::try_from(argument).ok().filter(|&id| id < crate::arguments(channels(&xclbin, unit)));
        id.map(|id| ARGS[id].offset).ok_or(0)
    }

    pub(crate) fn register(&mut self, kernel: usize, offset: u32) -> Outcome<u32> {
        let (card, unit) = self.kernel(kernel)?;
        let xclbin = self.xclbin(card)?;
        match offset {
            registers::IDENTITY => {
                let fault = self.meet(card, "register");
                Ok(fault.map_or(registers::IDENTITY_VALUE, |fault| u32::try_from(fault.value).unwrap_or(u32::MAX)))
            }
            registers::CONFIG => Ok(TABLE_LOG2 | (channels(&xclbin, unit) as u32) << 8),
            _ => Err(0),
        }
    }

    pub(crate) fn open_run(&mut self, kernel: usize) -> Outcome<usize> {
        let (card, unit) = self.kernel(kernel)?;
        let (args, buffers, state) = (Box::new([0; ARGS.len()]), HashMap::new(), Arc::new(AtomicI32::new(NEW)));
        Ok(self.add(Object::Run { card, kernel, unit, args, buffers, state }))
    }

    /// On x86-64 and Arm a variadic argument of 4 or 8 bytes is passed like one that is not; of 4 bytes only the low ones mean
    /// anything.
    pub(crate) fn set_argument(&mut self, run: usize, argument: i32, value: u64) -> Outcome<()> {
        let id = usize::try_from(argument).ok().filter(|&id| id < ARGS.len()).ok_or(0)?;
        let value = match ARGS[id] {
            arg if arg.port.is_some() => {
                let place = self.buffer(value as usize)?.place;
                place.ok_or(libc::EINVAL)?.1
            }
            arg if arg.bytes == 4 => value & u64::from(u32::MAX),
            _ => value,
        };
        let Some(Object::Run { args, buffers, .. }) = self.objects.get_mut(&run) else { return Err(libc::EINVAL) };
        args[id] = value;
        if ARGS[id].port.is_some() {
            buffers.insert(argument, value as usize);
        }
        Ok(())
    }

    pub(crate) fn start(&mut self, run: usize) -> Outcome<()> {
        let Some(Object::Run { card, unit, args, state, .. }) = self.objects.get(&run) else {
            return Err(libc::EINVAL);
        };
        let (card, unit, args, state) = (*card, *unit, args.clone(), Arc::clone(state));
        if state.load(Relaxed) == RUNNING {
            return Err(libc::EINVAL);
        }
        let channels = channels(&*self.xclbin(card)?, unit);
        let hang = self.meet(card, "hang").is_some();
        let lost = self.meet(card, "lost").is_some();
        let crash = self.meet(card, "crash");
        let trouble =
            Trouble { silent: self.meet(card, "silent").is_some(), lying: self.meet(card, "lying").is_some() };
        let (unit, memory) = (Arc::clone(&self.card(card).units[unit]), Arc::clone(self.card(card).memory()));
        state.store(RUNNING, Relaxed);
        if hang {
            return Ok(());
        }
        thread::spawn(move || {
            let end = match kernel::run(&unit, &memory, &args, channels, trouble) {
                Some(()) => crash.map_or(COMPLETED, |fault| fault.value as i32),
                None => ERROR,
            };
            // What the run has written is there before its state is.
            if !lost {
                state.store(end, std::sync::atomic::Ordering::Release);
            }
        });
        Ok(())
    }

    pub(crate) fn state(&self, run: usize) -> Outcome<i32> {
        match self.objects.get(&run) {
            Some(Object::Run { state, .. }) => Ok(state.load(std::sync::atomic::Ordering::Acquire)),
            _ => Err(libc::EINVAL),
        }
    }

    fn add_buffer(&mut self, device: usize, host: Arc<Store>, store: Option<Store>, group: u32) -> Outcome<usize> {
        let card = self.device(device)?;
        let xclbin = self.xclbin(card)?;
        // Without memory of its own, the card sees what the host does.
        let store = store.map_or_else(|| Arc::clone(&host), Arc::new);
        let address =
            self.card(card).memory().lock().unwrap_or_else(PoisonError::into_inner).place(&xclbin, group, &store);
        let place = Some((store, address.ok_or(libc::ENOMEM)?));
        Ok(self.add(Object::Buffer(Buffer { card, device, host, place })))
    }

    pub(crate) fn allocate(&mut self, device: usize, bytes: usize, flags: u64, group: u32) -> Outcome<usize> {
        match flags {
            _ if bytes == 0 => Err(libc::EINVAL),
            0 => self.add_buffer(device, Arc::new(Store::pages(bytes)), Some(Store::card(bytes)), group),
            PEER_TO_PEER => self.add_buffer(device, Arc::new(Store::pages(bytes)), None, group),
            _ => Err(libc::EINVAL),
        }
    }

    pub(crate) fn share(
        &mut self,
        device: usize,
        start: Option<NonNull<AtomicI32>>,
        bytes: usize,
        group: u32,
    ) -> Outcome<usize> {
        let start = start.filter(|start| start.addr().get() % PAGE == 0 && bytes > 0).ok_or(libc::EINVAL)?;
        self.add_buffer(device, Arc::new(Store::user(start, bytes)), Some(Store::card(bytes)), group)
    }

    pub(crate) fn import(&mut self, device: usize, descriptor: i32) -> Outcome<usize> {
        let card = self.device(device)?;
        let host = Arc::new(Store::file(descriptor).ok_or(libc::EINVAL)?);
        Ok(self.add(Object::Buffer(Buffer { card, device, host, place: None })))
    }

    pub(crate) fn size(&self, buffer: usize) -> Outcome<usize> {
        Ok(self.buffer(buffer)?.host.bytes())
    }

    pub(crate) fn address(&self, buffer: usize) -> Outcome<u64> {
        Ok(self.buffer(buffer)?.place.ok_or(libc::EINVAL)?.1)
    }

    pub(crate) fn map(&self, buffer: usize) -> Outcome<NonNull<AtomicI32>> {
        Ok(self.buffer(buffer)?.host.start())
    }

    /// Transfers are of whole words here. Peer-to-peer memory does not move (XRT pull request 332).
    pub(crate) fn sync(&self, buffer: usize, to_device: bool, bytes: usize, at: usize) -> Outcome<()> {
        let Buffer { host, place, .. } = self.buffer(buffer)?;
        let (card, _) = place.ok_or(libc::EINVAL)?;
        if !bytes.is_multiple_of(4) || !at.is_multiple_of(4) || Arc::ptr_eq(&host, &card) {
            return Err(libc::EINVAL);
        }
        let (from, to) = if to_device { (host, card) } else { (card, host) };
        let words = from.read(at, bytes / 4).ok_or(libc::EIO)?;
        to.write(at, &words).ok_or(libc::EIO)
    }

    pub(crate) fn write(&self, buffer: usize, bytes: &[u8], at: usize) -> Outcome<()> {
        let words: Vec<_> = bytes.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        self.buffer(buffer)?.host.write(at, &words).ok_or(libc::EINVAL)
    }

    pub(crate) fn read(&self, buffer: usize, bytes: &mut [u8], at: usize) -> Outcome<()> {
        let words = self.buffer(buffer)?.host.read(at, bytes.len() / 4).ok_or(libc::EINVAL)?;
        bytes.chunks_exact_mut(4).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        Ok(())
    }

    pub(crate) fn copy(&self, (to, at): (usize, usize), (from, skip): (usize, usize), bytes: usize) -> Outcome<()> {
        let (to, from) = (self.buffer(to)?, self.buffer(from)?);
        let from = from.place.map_or(from.host, |(card, _)| card);
        let to = to.place.map_or(to.host, |(card, _)| card);
        let words = from.read(skip, bytes / 4).ok_or(libc::EIO)?;
        to.write(at, &words).ok_or(libc::EINVAL)
    }

    /// Closes or frees whatever it is; what the real XRT does not survive is counted.
    pub(crate) fn close(&mut self, handle: usize) -> Outcome<()> {
        let object = self.objects.remove(&handle).ok_or(libc::EINVAL)?;
        let card = object.card();
        let lives = |needs: &dyn Fn(&Object) -> bool| self.objects.values().any(needs);
        let broken = match &object {
            Object::Device { .. } => lives(&|other| match other {
                Object::Kernel { device, .. } | Object::Buffer(Buffer { device, .. }) => *device == handle,
                _ => false,
            }),
            Object::Kernel { .. } => lives(&|other| matches!(other, Object::Run { kernel, .. } if *kernel == handle)),
            Object::Run { state, .. } => state.load(Relaxed) == RUNNING,
            Object::Buffer(_) => lives(&|other| match other {
                Object::Run { buffers, state, .. } => {
                    state.load(Relaxed) == RUNNING && buffers.values().any(|used| *used == handle)
                }
                _ => false,
            }),
        };
        if broken {
            self.violation(card);
        }
        if let Object::Buffer(Buffer { place: Some((_, address)), .. }) = object {
            self.card(card).memory().lock().unwrap_or_else(PoisonError::into_inner).remove(address);
        }
        Ok(())
    }
}
