/// Two indices of a recording's tables as one key of a dictionary.
func indexPair(_ one: Int32, _ other: Int32) -> UInt64 {
    UInt64(UInt32(bitPattern: one)) << 32 | UInt64(UInt32(bitPattern: other))
}
