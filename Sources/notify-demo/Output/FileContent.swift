import SystemPackage

/// The content of an open regular file, from its beginning to its end.
struct FileContent {
    let descriptor: FileDescriptor

    /// Writes the content at the current position of another file.
    /// - Throws: `Errno`. A part may have been written.
    func write(to target: FileDescriptor) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset: Int64 = 0
        while true {
            let count = try buffer.withUnsafeMutableBytes { try descriptor.read(fromAbsoluteOffset: offset, into: $0) }
            if count == 0 { return }
            try target.writeAll(buffer[..<count])
            offset += Int64(count)
        }
    }
}
