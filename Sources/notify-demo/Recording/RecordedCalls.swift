import CLinux
import Foundation

/// Calls in the lines of a recording that have an address, the key `at`, in place of a source location.
///
/// The recorder finds addresses because that is cheap; what they are is found once, when the program has ended.
enum RecordedCalls {
    /// The addresses in some lines.
    ///
    /// - Parameter lines: whole lines; a line that ends early may be the last.
    static func addresses(in lines: [UInt8]) -> Set<String> {
        var addresses: Set<ArraySlice<UInt8>> = []
        forEachCall(in: lines) { addresses.insert(lines[$0.address]) }
        return Set(addresses.map { String(decoding: $0, as: UTF8.self) })
    }

    /// The lines with `file` and `line` in place of `at` and `function`, where these are known; otherwise with a
    /// `function`, if that is known and they have none.
    static func resolved(_ lines: [UInt8], _ sources: [String: CallSource]) -> [UInt8] {
        let texts = Dictionary(uniqueKeysWithValues: sources.map { (Array($0.utf8)[...], $1) })
        var (resolved, rest) = ([UInt8](), lines[...])
        forEachCall(in: lines) { call in
            switch texts[lines[call.address]] {
            case .location(let file, let line):
                resolved += rest[..<call.keys.lowerBound] + "\"file\":\(quoted(file)),\"line\":\(line)".utf8
            case .function(let function) where !call.hasFunction:
                resolved += rest[..<call.keys.upperBound] + ",\"function\":\(quoted(function))".utf8
            default: return
            }
            rest = rest[call.keys.upperBound...]
        }
        return resolved + rest
    }

    private static func quoted(_ text: String) -> String {
        let data = try? JSONSerialization.data(
            withJSONObject: text, options: [.fragmentsAllowed, .withoutEscapingSlashes])
        return String(decoding: data ?? Data("\"\"".utf8), as: UTF8.self)
    }

    /// The keys `at` and `function` of a line, with their values.
    private struct Call {
        var keys: Range<Int>
        var hasFunction: Bool
        /// The value of `at`, without quotation marks.
        var address: Range<Int>
    }

    private static let at = Array("\"at\":\"".utf8)
    private static let function = Array(",\"function\":\"".utf8)

    /// In a string of JSON, the quotation marks of the keys would be escaped.
    private static func forEachCall(in lines: [UInt8], _ take: (Call) -> Void) {
        lines.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var start = 0
            while let found = memmem(base + start, bytes.count - start, at, at.count) {
                let begin = UnsafeRawPointer(found) - base
                guard let end = endOfString(lines, begin + at.count) else { return }
                let hasFunction = lines[end...].starts(with: function)
                start = hasFunction ? endOfString(lines, end + function.count) ?? end : end
                take(Call(keys: begin..<start, hasFunction: start > end, address: begin + at.count..<end - 1))
            }
        }
    }

    /// The index after the quotation mark at the end of a string; nil if the bytes end before.
    private static func endOfString(_ bytes: [UInt8], _ start: Int) -> Int? {
        var index = start
        while index < bytes.endIndex, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index < bytes.endIndex ? index + 1 : nil
    }
}
