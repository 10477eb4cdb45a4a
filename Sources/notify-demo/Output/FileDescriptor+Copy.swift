import SystemPackage

extension FileDescriptor {
    /// Writes the content of this regular file, from its beginning, at the current position of another file.
    ///
    /// - Throws: `Errno`. A part may have been written.
    func copyContent(to target: FileDescriptor) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset: Int64 = 0
        while true {
            let count = try buffer.withUnsafeMutableBytes { try read(fromAbsoluteOffset: offset, into: $0) }
            if count == 0 { return }
            try target.writeAll(buffer[..<count])
            offset += Int64(count)
        }
    }
}
