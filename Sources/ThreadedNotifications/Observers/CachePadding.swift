/// As much memory as two processors hand to each other at a time: what is before it and what is after it can be written at the same time without
/// waiting.
struct Apart {
    private let bytes: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
}
