import Foundation
import SystemPackage

/// Data goes to standard output, talk to standard error.
struct Terminal {
    private var unwritten: [UInt8] = []
    let outputPalette = Palette(for: .standardOutput)
    let errorPalette = Palette(for: .standardError)

    /// Prints a line of data, when 64 KiB have come together or at `flush()`.
    mutating func print(_ line: String) throws {
        unwritten += line.utf8
        unwritten.append(UInt8(ascii: "\n"))
        if unwritten.count >= 65_536 { try flush() }
    }

    /// Prints data that has its own newlines.
    mutating func print(_ bytes: [UInt8]) throws {
        unwritten += bytes
        if unwritten.count >= 65_536 { try flush() }
    }

    /// Writes what is left to standard output.
    mutating func flush() throws {
        defer { unwritten.removeAll(keepingCapacity: true) }
        do {
            try FileDescriptor.standardOutput.writeAll(unwritten)
        } catch Errno.brokenPipe {
            // The reader is gone, and the signal that ends a program quietly then is ignored here: end likewise.
            UnfinishedOutput.remove()
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        } catch {
            throw OutputError(problem: "\(error)")
        }
    }

    /// Prints a line of talk, at once.
    func say(_ line: String) {
        // There is nobody left to tell that telling failed.
        _ = try? FileDescriptor.standardError.writeAll(Array("\(line)\n".utf8))
    }
}

/// Standard output took no more.
struct OutputError: Error, CustomStringConvertible {
    var problem: String

    var description: String {
        "cannot write to standard output: \(problem). What was printed is not complete."
    }
}
