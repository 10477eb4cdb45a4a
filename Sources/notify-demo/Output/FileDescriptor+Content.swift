import SystemPackage

extension FileDescriptor {
    /// Reads this regular file from its beginning, in pieces.
    ///
    /// - Throws: `Errno`, and the errors of `body`.
    func readContent(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset: Int64 = 0
        while true {
            let count = try buffer.withUnsafeMutableBytes { try read(fromAbsoluteOffset: offset, into: $0) }
            if count == 0 { return }
            try body(buffer[..<count])
            offset += Int64(count)
        }
    }
}
