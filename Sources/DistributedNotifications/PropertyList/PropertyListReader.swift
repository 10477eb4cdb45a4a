internal import Foundation

/// Reads a userInfo from a file of the user's: an XML or binary (bplist00) property list, or JSON.
///
/// Foundation's reader is not used, because it crashes on bad files and expands small ones to hundreds of megabytes. What is
/// read here has at most the values and bytes of a userInfo, whatever the file says.
package enum PropertyListReader {
    /// A file of more bytes is not read. XML takes several times what the same values take on the wire.
    package static let fileLimit = 1 << 20

    /// What is wrong with a file, and where.
    struct Problem: Error {
        /// Of the byte, from 0.
        let offset: Int
        let text: String
    }

    /// Reads a file, or standard input for `-`; waits for it if it is a pipe.
    ///
    /// - Throws: `DistributedError.propertyListNotReadable`.
    package static func userInfo(path: String) throws(DistributedError) -> [String: PropertyListValue] {
        let name = path == "-" ? "standard input" : path
        let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            let problem = String(cString: strerror(errno))
            throw .propertyListNotReadable(file: name, place: nil, problem: "cannot be opened: \(problem)")
        }
        defer { if path != "-" { close(file) } }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= fileLimit {
            let count = read(file, &part, part.count)
            if count == 0 { break }
            if count > 0 {
                bytes += part[..<count]
            } else if errno != EINTR {
                let problem = String(cString: strerror(errno))
                throw .propertyListNotReadable(file: name, place: nil, problem: "cannot be read: \(problem)")
            }
        }
        return try userInfo(bytes, name: name)
    }

    /// Reads what was in a file; `name` is what errors call it.
    ///
    /// - Throws: `DistributedError.propertyListNotReadable`.
    package static func userInfo(
        _ bytes: [UInt8], name: String
    ) throws(DistributedError) -> [String: PropertyListValue] {
        guard case .dictionary(let dictionary) = try value(bytes, name: name) else {
            throw .propertyListNotReadable(
                file: name, place: nil, problem: "it is no dictionary, and a userInfo is one. Put the value under a key"
            )
        }
        return dictionary
    }

    /// Reads a value of any kind.
    ///
    /// - Throws: `DistributedError.propertyListNotReadable`.
    package static func value(_ bytes: [UInt8], name: String) throws(DistributedError) -> PropertyListValue {
        guard bytes.count <= fileLimit else {
            throw .propertyListNotReadable(
                file: name, place: nil,
                problem: "it is larger than \(fileLimit >> 20) MiB, and a userInfo may be no more than "
                    + "\(PropertyListLimits.bytes >> 10) KiB")
        }
        let isBinary = bytes.starts(with: BinaryPropertyListReader.magic)
        do throws(Problem) {
            if isBinary { return try BinaryPropertyListReader.read(bytes) }
            // A mark that some editors write to say that it is UTF-8.
            let start = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
            switch bytes[start...].first(where: { !$0.isXMLSpace }) {
            case UInt8(ascii: "<"): return try XMLPropertyListReader.read(bytes, from: start)
            case UInt8(ascii: "{"), UInt8(ascii: "["): return try JSONPropertyListReader.read(bytes, from: start)
            case nil: throw Problem(offset: 0, text: "it is empty")
            default: throw Problem(offset: 0, text: unknownForm(bytes))
            }
        } catch {
            let line = 1 + bytes[..<min(error.offset, bytes.count)].count { $0 == UInt8(ascii: "\n") }
            throw .propertyListNotReadable(
                file: name, place: isBinary ? "byte \(error.offset)" : "line \(line)", problem: error.text)
        }
    }

    private static func unknownForm(_ bytes: [UInt8]) -> String {
        if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
            return "it is UTF-16, and only UTF-8 is read. 'iconv -f UTF-16 -t UTF-8' converts it"
        }
        return
            "it is neither an XML nor a binary property list (bplist00), nor JSON. 'plutil -convert xml1' converts others"
    }

    /// Text of the file as an error shows it: not too much, and nothing that a terminal would obey.
    static func shown(_ text: String) -> String {
        (text.count <= 40 ? text : "\(text.prefix(39))…").debugDescription
    }
}

extension UInt8 {
    /// Also what JSON has between its words.
    var isXMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0a || self == 0x0d }

    var isDigit: Bool { (0x30...0x39).contains(self) }
}
