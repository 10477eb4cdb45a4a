internal import SystemPackage

/// A file that is read: closed when it and its copies are gone.
final class OpenFile {
    let descriptor: FileDescriptor

    init(reading path: String) throws {
        descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    }

    deinit {
        try? descriptor.close()
    }
}
