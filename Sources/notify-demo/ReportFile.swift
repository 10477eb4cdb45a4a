import SystemPackage

/// A file for a report. What it held is gone when it is opened, so that no old report is taken for the new one.
struct ReportFile {
    private let path: String
    private let descriptor: FileDescriptor

    init(path: String) throws(ReportFileError) {
        self.path = path
        do {
            descriptor = try FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.create, .truncate, .closeOnExec],
                permissions: [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
        } catch {
            throw ReportFileError(path: path, problem: "\(error)")
        }
    }

    /// Writes the text with a newline, and closes the file.
    func write(_ text: String) throws(ReportFileError) {
        do {
            try descriptor.closeAfter { _ = try descriptor.writeAll("\(text)\n".utf8) }
        } catch {
            throw ReportFileError(path: path, problem: "\(error)")
        }
    }
}

/// The file for a report cannot be had, or took no more.
struct ReportFileError: Error, CustomStringConvertible {
    var path: String
    var problem: String

    var description: String { "\(path.isEmpty ? "\"\"" : path): cannot be written: \(problem)." }
}
