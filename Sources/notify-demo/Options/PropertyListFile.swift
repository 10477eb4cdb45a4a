import ChildProcesses
import DistributedNotifications
import Foundation

/// A file from which `post --plist` takes a userInfo: a property list in XML or binary form, or JSON.
///
/// Foundation reads property lists, in a child process: a bad list can crash it, or make it use any amount of memory.
/// The child writes the userInfo in the form of the wire, which this process decodes strictly. `UserInfoJSON` reads
/// JSON, in this process.
struct PropertyListFile {
    /// A larger file is refused. XML takes several times as many bytes as the same values on the wire.
    private static let sizeLimit = 1 << 20
    private static let timeout = Duration.seconds(30)

    private let name: String
    private let bytes: Data

    /// Reads the file, or standard input for `-`.
    init(path: String) throws(PropertyListFileError) {
        name = path.isEmpty ? "\"\"" : path == "-" ? "standard input" : path
        let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw PropertyListFileError(
                file: name, problem: "cannot be opened: \(String(cString: strerror(errno)))")
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: path != "-")
        do {
            bytes = try handle.read(upToCount: Self.sizeLimit + 1) ?? Data()
        } catch {
            let reason =
                ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)?.code ?? (error as NSError).code
            throw PropertyListFileError(
                file: name, problem: "cannot be read: \(String(cString: strerror(Int32(reason))))")
        }
        guard bytes.count <= Self.sizeLimit else {
            throw error("is larger than 1 MiB. Write large data to a file, and post its path")
        }
    }

    /// - Parameter child: this program, to be started as `PropertyListChild`.
    func userInfo(
        child: ChildProgram = .own([PropertyListChild.name])
    ) throws(PropertyListFileError) -> [String: PropertyListValue] {
        // Some editors begin a UTF-8 file with a mark.
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
        switch text.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            do throws(UserInfoJSONError) {
                guard case .dictionary(let userInfo) = try UserInfoJSON.value(of: text) else {
                    throw UserInfoJSONError(problem: PropertyListFileError.noDictionary)
                }
                var encoded: [UInt8] = []
                do throws(DistributedError) {
                    try PropertyListWriter.encode(userInfo, into: &encoded)
                } catch let refusal {
                    throw UserInfoJSONError(problem: PropertyListFileError.notPosted(refusal))
                }
                return userInfo
            } catch let refusal {
                throw error(refusal.problem)
            }
        case UInt8(ascii: "<"): return try userInfo(readBy: child)
        case _ where bytes.starts(with: "bplist".utf8): return try userInfo(readBy: child)
        case nil: throw error("is empty")
        default:
            throw error(
                "is neither an XML nor a binary property list nor JSON. 'plutil -convert xml1' converts other forms of "
                    + "property lists, and 'iconv -t UTF-8' other encodings of JSON")
        }
    }

    private func userInfo(readBy child: ChildProgram) throws(PropertyListFileError) -> [String: PropertyListValue] {
        let result: ChildProgram.Result
        do throws(ChildProcessError) {
            result = try child.run(input: Array(bytes), timeout: Self.timeout)
        } catch let failure {
            throw error("cannot be read: the process that reads it failed: \(failure)")
        }
        switch result.end {
        case .exit(0):
            guard let encoded = Data(base64Encoded: result.output.trimmingCharacters(in: .newlines)),
                let userInfo = try? encoded.withUnsafeBytes({ try PropertyListReader.decode($0).value })
            else { throw error("cannot be read: the process that reads it wrote something else") }
            return userInfo
        case .exit(PropertyListChild.refused):
            throw error(result.errors.trimmingCharacters(in: .newlines))
        case let end:
            throw error(
                "is not a property list that Foundation can read: its reader ended with \(end). "
                    + "'plutil -lint' shows what is wrong with a list")
        }
    }

    private func error(_ problem: String) -> PropertyListFileError {
        PropertyListFileError(file: name, problem: problem)
    }
}

/// Why no userInfo could be read from a file.
struct PropertyListFileError: Error, CustomStringConvertible {
    var file: String
    /// The cause, and what to do, as words that follow the file's name.
    var problem: String

    static let noDictionary = "contains no dictionary. Put the value into a dictionary, under a key"

    static func notPosted(_ error: DistributedError) -> String {
        "cannot be posted: \(error.path ?? "") \(error.problem)"
    }

    var description: String { "\(file) \(problem)." }
}
