internal import SystemPackage

/// A file that is open for reading. Closed when the last reference is released.
final class OpenFile {
    let descriptor: FileDescriptor

    init(reading path: String) throws {
        descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    }

    deinit {
        try? descriptor.close()
    }
}
