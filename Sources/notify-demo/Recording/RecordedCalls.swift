import CLinux
import Foundation

/// Calls in the lines of a recording that have an address, the key `at`, in place of a source location.
///
/// The recorder finds addresses because that is cheap; what they are is found once, when the program has ended.
enum RecordedCalls {
    /// The addresses in some lines.
    static func addresses(in lines: [UInt8]) -> Set<String> {
        var addresses: Set<String> = []
        forEachCall(in: lines) { addresses.insert(String(decoding: lines[$1], as: UTF8.self)) }
        return addresses
    }

    /// The lines with `file` and `line` in place of `at` and `function`, where these are known.
    static func resolved(_ lines: [UInt8], _ sources: [String: String]) -> [UInt8] {
        let texts = Dictionary(uniqueKeysWithValues: sources.map { (Array($0.utf8)[...], $1) })
        var (resolved, rest) = ([UInt8](), lines[...])
        forEachCall(in: lines) { keys, address in
            guard let text = texts[lines[address]] else { return }
            resolved += rest[..<keys.lowerBound] + text.utf8
            rest = rest[keys.upperBound...]
        }
        return resolved + rest
    }

    private static let at = Array("\"at\":\"".utf8)
    private static let function = Array(",\"function\":\"".utf8)

    /// - Parameter take: called with the places of the keys `at` and `function` with their values, and of the address.
    private static func forEachCall(in lines: [UInt8], _ take: (_ keys: Range<Int>, _ address: Range<Int>) -> Void) {
        let quote = UInt8(ascii: "\"")
        lines.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var start = 0
            // In a string of JSON, the quotation marks of the keys would be escaped.
            while let found = memmem(base + start, bytes.count - start, at, at.count) {
                let begin = UnsafeRawPointer(found) - base
                guard let end = lines[(begin + at.count)...].firstIndex(of: quote) else { return }
                start = end + 1
                if lines[start...].starts(with: function) {
                    start = (lines[(start + function.count)...].firstIndex(of: quote) ?? end) + 1
                }
                take(begin..<start, begin + at.count..<end)
            }
        }
    }
}
