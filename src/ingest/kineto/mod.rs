//! `PyTorch`'s profiler (Kineto): the traces that it exports, and the averages that it prints.

mod about;
mod aten;
mod devices;
mod earlier;
mod event;
mod fused;
mod gathered;
mod judged;
mod launches;
mod learnt;
mod links;
mod lists;
mod missing;
mod nested;
mod operands;
mod places;
mod ranks;
mod work;

formats! {
    trace,
    averages,
}
