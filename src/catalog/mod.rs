//! What the hardware can do: devices with every figure's source, found by the names tools print.
