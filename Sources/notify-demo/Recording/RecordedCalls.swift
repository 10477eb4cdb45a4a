import CLinux
import Foundation

/// Calls in the lines of a recording that have an address, the key `at`, in place of a source location.
///
/// The recorder finds addresses because that is cheap; what they are is found once, when the program has ended.
enum RecordedCalls {
    /// The addresses in some lines.
    static func addresses(in lines: [UInt8]) -> Set<String> {
        var addresses: Set<String> = []
        _ = resolved(lines) {
            addresses.insert($0)
            return nil
        }
        return addresses
    }

    /// The lines with `file` and `line` in place of `at` and `function`, where these are known.
    static func resolved(_ lines: [UInt8], _ sources: [String: String]) -> [UInt8] { resolved(lines) { sources[$0] } }

    private static func resolved(_ lines: [UInt8], _ source: (String) -> String?) -> [UInt8] {
        let (at, function) = (Array("\"at\":\"".utf8), Array(",\"function\":\"".utf8))
        var (resolved, copied, start) = ([UInt8](), 0, 0)
        func closingQuote(from index: Int) -> Int? { lines[index...].firstIndex(of: UInt8(ascii: "\"")) }
        // In a string of JSON, the quotation marks of the keys would be escaped.
        while let found = lines.withUnsafeBytes({ bytes in
            memmem(bytes.baseAddress! + start, bytes.count - start, at, at.count)
                .map { UnsafeRawPointer($0) - bytes.baseAddress! }
        }), let end = closingQuote(from: found + at.count) {
            start = end + 1
            if lines[start...].starts(with: function), let last = closingQuote(from: start + function.count) {
                start = last + 1
            }
            guard let text = source(String(decoding: lines[(found + at.count)..<end], as: UTF8.self)) else { continue }
            resolved += lines[copied..<found] + text.utf8
            copied = start
        }
        return resolved + lines[copied...]
    }
}
