import ArgumentParser
import ChildProcesses
import DistributedNotifications
import Foundation
import SystemPackage

/// Reads a userInfo from the file of `post --plist`: a property list in XML or binary form, or JSON.
///
/// Foundation reads property lists, in a child process: a bad list can crash it, or make it use any amount of memory.
/// The child writes the userInfo in the form of the wire, which this process decodes strictly.
enum UserInfoFile {
    /// A larger file is refused. XML takes several times as many bytes as the same values on the wire.
    private static let sizeLimit = 1 << 20

    /// - Parameter path: the file; `-` is standard input.
    /// - Throws: an error that names the file.
    static func read(
        _ path: String, child: ChildProgram = .own([PropertyListChild.name])
    ) throws(UserInfoError) -> [String: PropertyListValue] {
        do throws(UserInfoError) {
            return try userInfo(of: try content(of: path), child)
        } catch {
            let name = path.isEmpty ? "\"\"" : path == "-" ? "standard input" : path
            throw UserInfoError("\(name) \(error).")
        }
    }

    private static func content(of path: String) throws(UserInfoError) -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            let file =
                path == "-"
                ? .standardInput : try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
            defer { if path != "-" { try? file.close() } }
            var buffer = [UInt8](repeating: 0, count: sizeLimit + 1)
            var count = 0
            repeat {
                count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
                bytes += buffer[..<count]
            } while count > 0 && bytes.count <= sizeLimit
        } catch {
            throw UserInfoError("cannot be read: \(error)")
        }
        guard bytes.count <= sizeLimit else {
            throw UserInfoError("is larger than 1 MiB. Write large data to a file, and post its path")
        }
        return bytes
    }

    private static func userInfo(
        of bytes: [UInt8], _ child: ChildProgram
    ) throws(UserInfoError) -> [String: PropertyListValue] {
        // Some editors begin a UTF-8 file with a mark.
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        switch text.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard case .dictionary(let userInfo) = try PropertyListValue.json(text) else { throw .noDictionary }
            return userInfo
        case UInt8(ascii: "<"): return try userInfo(of: bytes, readBy: child)
        case _ where bytes.starts(with: "bplist".utf8): return try userInfo(of: bytes, readBy: child)
        case nil: throw UserInfoError("is empty")
        default:
            throw UserInfoError(
                "is neither an XML nor a binary property list nor JSON. 'plutil -convert xml1' converts other forms of "
                    + "property lists, and 'iconv -t UTF-8' other encodings of JSON")
        }
    }

    private static func userInfo(
        of bytes: [UInt8], readBy child: ChildProgram
    ) throws(UserInfoError) -> [String: PropertyListValue] {
        let result: ChildProgram.Result
        do {
            result = try child.run(input: bytes, timeout: .seconds(30))
        } catch {
            throw UserInfoError("cannot be read: the process that reads it failed: \(error)")
        }
        switch result.end {
        case .exit(0):
            guard let encoded = Data(base64Encoded: result.output.trimmingCharacters(in: .newlines)),
                let userInfo = try? encoded.withUnsafeBytes({ try PropertyListReader.decode($0).value })
            else { throw UserInfoError("cannot be read: the process that reads it wrote something else") }
            return userInfo
        case .exit(PropertyListChild.refused):
            throw UserInfoError(result.errors.trimmingCharacters(in: .newlines))
        case let end:
            throw UserInfoError(
                "is not a property list that Foundation can read: its reader ended with \(end). "
                    + "'plutil -lint' shows what is wrong with a list")
        }
    }
}

/// The subcommand that `post --plist` starts as a child process. It reads a property list from standard input with
/// Foundation, which a bad list can crash, and writes the userInfo to standard output in the form of the wire, as
/// base64.
struct PropertyListChild: ParsableCommand {
    static let name = "property-list-child"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    /// The exit status for a list that is refused, with the reason on standard error.
    static let refused: Int32 = 3

    func run() throws {
        ResourceLimit.disableCoreDumps()
        // A list of 221 bytes can expand to 628 MB.
        ResourceLimit.limitMemory(bytes: 256 << 20)
        let refusal: UserInfoError
        do {
            let list = try PropertyListSerialization.propertyList(
                from: FileHandle.standardInput.readToEnd() ?? Data(), format: nil)
            guard let dictionary = list as? [AnyHashable: Any] else { throw UserInfoError.noDictionary }
            var encoded: [UInt8] = []
            try PropertyListWriter.encode([String: PropertyListValue](userInfo: dictionary), into: &encoded)
            try FileDescriptor.standardOutput.writeAll(Data(encoded).base64EncodedData())
            return
        } catch let error as UserInfoError {
            refusal = error
        } catch let error as DistributedError {
            refusal = UserInfoError(error)
        } catch let error as CocoaError {
            // The error that names the line is wrapped in another.
            let cause = error.userInfo["_NSError"] as? NSError ?? error as NSError
            let reason = cause.userInfo["NSDebugDescription"] ?? cause.localizedDescription
            refusal = UserInfoError("is not a property list: \(reason)")
        }
        try FileDescriptor.standardError.writeAll(refusal.description.utf8)
        throw ExitCode(Self.refused)
    }
}
