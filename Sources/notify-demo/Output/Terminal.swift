import Foundation
import SystemPackage

/// The standard streams of a command: data goes to standard output, messages to standard error.
struct Terminal {
    private var unwritten: [UInt8] = []
    let outputPalette = Palette(for: .standardOutput)
    let errorPalette = Palette(for: .standardError)

    /// Prints a line of data. Data is written when there are 64 KiB, and by `flush()`.
    mutating func print(_ line: String) throws {
        unwritten += line.utf8
        unwritten.append(UInt8(ascii: "\n"))
        if unwritten.count >= 65_536 { try flush() }
    }

    /// Prints data with its own newlines.
    mutating func print(_ bytes: [UInt8]) throws {
        unwritten += bytes
        if unwritten.count >= 65_536 { try flush() }
    }

    /// Writes the remaining data to standard output.
    mutating func flush() throws {
        defer { unwritten.removeAll(keepingCapacity: true) }
        do {
            try FileDescriptor.standardOutput.writeAll(unwritten)
        } catch Errno.brokenPipe {
            // The reader is gone. Swift's runtime ignores SIGPIPE, so end the process as that signal would.
            UnfinishedOutput.remove()
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        } catch {
            throw OutputError(problem: "\(error)")
        }
    }

    /// Prints a message at once.
    func say(_ line: String) {
        // Standard error is closed; nothing more can be reported.
        _ = try? FileDescriptor.standardError.writeAll(Array("\(line)\n".utf8))
    }
}

/// Writing to standard output failed.
struct OutputError: Error, CustomStringConvertible {
    var problem: String

    var description: String {
        "cannot write to standard output: \(problem). The output is incomplete."
    }
}
