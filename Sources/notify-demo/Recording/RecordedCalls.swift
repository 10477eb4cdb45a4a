import CLinux
import Foundation

/// Calls in the lines of a recording that have an address, the key `at`, in place of a source location.
///
/// The recorder finds addresses because that is cheap; what they are is found once, when the program has ended.
enum RecordedCalls {
    /// The addresses in some lines.
    ///
    /// - Parameter lines: whole lines; a line that ends early may be the last.
    static func addresses(in lines: [UInt8]) -> Set<CallAddress> {
        var texts: Set<ArraySlice<UInt8>> = []
        var rest = lines[...]
        while let call = call(in: rest) {
            texts.insert(rest[call.address])
            rest = rest[call.end...]
        }
        return Set(texts.compactMap { CallAddress(String(decoding: $0, as: UTF8.self)) })
    }

    /// The lines with `file` and `line` in place of `at` and `function`, where these are known; otherwise with a
    /// `function`, if that is known.
    static func resolved(_ lines: [UInt8], _ sources: [CallAddress: CallSource]) -> [UInt8] {
        var keys: [ArraySlice<UInt8>: Keys] = [:]
        for (address, source) in sources { keys[Array("\(address.module)+\(address.offset)".utf8)[...]] = Keys(source) }
        var resolved: [UInt8] = []
        resolved.reserveCapacity(lines.count)
        var rest = lines[...]
        while let call = call(in: rest) {
            let keys = keys[rest[call.address]]
            if let keys, keys.replaceAddress {
                resolved += rest[..<call.begin] + keys.text
                rest = rest[call.endOfFunction...]
            } else {
                resolved += rest[..<call.end]
                if let keys, call.endOfFunction == call.end { resolved += keys.text }
                rest = rest[call.end...]
            }
        }
        return resolved + rest
    }

    /// The keys of a source.
    private struct Keys {
        let text: [UInt8]
        /// False if they follow the address.
        let replaceAddress: Bool

        init(_ source: CallSource) {
            switch source {
            case .location(let file, let line):
                (text, replaceAddress) = (Array("\"file\":\(quoted(file)),\"line\":\(line)".utf8), true)
            case .function(let function):
                (text, replaceAddress) = (Array(",\"function\":\(quoted(function))".utf8), false)
            }
        }
    }

    private static func quoted(_ text: String) -> String {
        let data = try? JSONSerialization.data(
            withJSONObject: text, options: [.fragmentsAllowed, .withoutEscapingSlashes])
        return String(decoding: data ?? Data("\"\"".utf8), as: UTF8.self)
    }

    // MARK: Search

    /// The keys `at` and `function` of a line.
    private struct Call {
        /// The first quotation mark of `at`.
        var begin: Int
        /// The value of `at`, without quotation marks.
        var address: Range<Int>
        /// After the value of `at`.
        var end: Int
        /// After the value of the `function` that follows, if one does.
        var endOfFunction: Int
    }

    private static let at = Array("\"at\":\"".utf8)
    private static let function = Array(",\"function\":\"".utf8)

    /// The first call. In a string of JSON, the quotation marks of the keys would be escaped.
    private static func call(in bytes: ArraySlice<UInt8>) -> Call? {
        guard let begin = firstIndex(of: at, in: bytes), let end = endOfString(bytes, begin + at.count) else {
            return nil
        }
        var call = Call(begin: begin, address: begin + at.count..<end - 1, end: end, endOfFunction: end)
        if bytes[end...].starts(with: function), let end = endOfString(bytes, end + function.count) {
            call.endOfFunction = end
        }
        return call
    }

    private static func firstIndex(of key: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { bytes -> Int? in
            guard let start = bytes.baseAddress, let found = memmem(start, bytes.count, key, key.count) else {
                return nil
            }
            return UnsafeRawPointer(found) - start
        }.map { bytes.startIndex + $0 }
    }

    /// The index after the quotation mark at the end of a string; nil if the bytes end before.
    private static func endOfString(_ bytes: ArraySlice<UInt8>, _ start: Int) -> Int? {
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
