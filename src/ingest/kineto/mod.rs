//! `PyTorch`'s profiler (Kineto): the traces that it exports, and the averages that it prints.

mod aten;
mod devices;
mod event;
mod gathered;
mod launches;
mod links;
mod lists;
mod operands;
mod places;
mod scan;
mod steps;
mod work;

formats! {
    trace,
    averages,
}
