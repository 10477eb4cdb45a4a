package import SystemPackage

/// A file that is open for reading. Closed when the last reference is released.
package final class OpenFile {
    package let descriptor: FileDescriptor

    package init(reading path: String) throws {
        descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    }

    deinit {
        try? descriptor.close()
    }
}
