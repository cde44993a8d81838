//! Each module of the RTL by itself, in its bench of `hw/bench`, without stalls and with gaps and back-pressure by chance.
//! None of them may change a result.

mod bench;
mod chacha;
mod dedup;
mod draw;
mod emitter;
mod flow;
mod frontier;
mod items;
mod lines;
mod queues;
mod request;
mod sampler;
mod writes;
