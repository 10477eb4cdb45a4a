import CLinux
import Foundation

/// Calls in the lines of a recording that have an address, the key `at`, in place of a source location.
///
/// The recorder finds addresses because that is cheap; what they are is found once, when the program has ended.
enum RecordedCalls {
    /// The addresses in some lines, and how often each occurs.
    ///
    /// - Parameter lines: whole lines; a line that ends early may be the last.
    static func addresses(in lines: [UInt8]) -> [CallAddress: Int] {
        var texts: [ArraySlice<UInt8>: Int] = [:]
        forEachCall(in: lines) { texts[lines[$0.address], default: 0] += 1 }
        let calls = texts.compactMap { text, count in
            CallAddress(String(decoding: text, as: UTF8.self)).map { ($0, count) }
        }
        return Dictionary(calls) { $0 + $1 }
    }

    /// The number of bytes that a source adds to a line at most.
    static func maximumLength(of source: CallSource) -> Int { text(source).utf8.count }

    private static func text(_ source: CallSource) -> String {
        switch source {
        case .location(let file, let line): "\"file\":\(quoted(file)),\"line\":\(line)"
        case .function(let function): ",\"function\":\(quoted(function))"
        }
    }

    /// The lines with `file` and `line` in place of `at` and `function`, where these are known; otherwise with a
    /// `function`, if that is known and they have none.
    static func resolved(_ lines: [UInt8], _ sources: [CallAddress: CallSource]) -> [UInt8] {
        var texts: [ArraySlice<UInt8>: (text: [UInt8], replacesAddress: Bool)] = [:]
        for (address, source) in sources {
            let replacesAddress = if case .location = source { true } else { false }
            texts[Array("\(address.module)+\(address.offset)".utf8)[...]] = (Array(text(source).utf8), replacesAddress)
        }
        var (resolved, rest) = ([UInt8](), lines[...])
        forEachCall(in: lines) { call in
            guard let (text, replacesAddress) = texts[lines[call.address]], replacesAddress || !call.hasFunction else {
                return
            }
            resolved += rest[..<(replacesAddress ? call.keys.lowerBound : call.keys.upperBound)] + text
            rest = rest[call.keys.upperBound...]
        }
        return resolved + rest
    }

    private static func quoted(_ text: String) -> String {
        let data = try? JSONSerialization.data(
            withJSONObject: text, options: [.fragmentsAllowed, .withoutEscapingSlashes])
        return String(decoding: data ?? Data("\"\"".utf8), as: UTF8.self)
    }

    // MARK: Search

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
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\""): return index + 1
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return nil
    }
}
