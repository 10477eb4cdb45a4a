package import NIOCore

/// A message as it arrived. It shares the bytes of the network's buffer; nothing is copied until it is asked for.
package struct NATSMessage: Sendable {
    /// The control line, the headers, the payload.
    var bytes = ByteBuffer()
    let subscription: Int
    // Where the parts are, counted from the beginning of the line.
    private let subjectRange: Range<Int>
    private let replyRange: Range<Int>?
    private let headerRange: Range<Int>
    private let payloadRange: Range<Int>

    /// With its end, CR LF.
    var length: Int { payloadRange.upperBound + 2 }

    package var subject: ByteBufferView { slice(subjectRange).readableBytesView }
    package var payload: ByteBuffer { slice(payloadRange) }
    /// The subject to answer to.
    var reply: ByteBuffer? { replyRange.map(slice) }

    /// 100 for what a consumer says between the messages, 503 if nobody received a message with a reply subject.
    var status: Substring? { headers.first?.split(separator: " ").dropFirst().first }

    func header(_ name: String) -> String? {
        headers.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    /// The first is `NATS/1.0`, perhaps with a status.
    private var headers: [Substring] {
        headerRange.isEmpty ? [] : String(buffer: slice(headerRange)).split(whereSeparator: \.isNewline)
    }

    private func slice(_ range: Range<Int>) -> ByteBuffer {
        // The parser has checked that the ranges are inside.
        bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
    }

    /// Reads a control line, without its end: `MSG <subject> <subscription> [reply] <bytes>` or
    /// `HMSG <subject> <subscription> [reply] <headers> <bytes>`.
    init?(line: UnsafeRawBufferPointer) {
        var rest = line[...]
        func word() -> Slice<UnsafeRawBufferPointer>? {
            rest = rest.drop { $0 == UInt8(ascii: " ") }
            let word = rest.prefix { $0 != UInt8(ascii: " ") }
            rest = rest[word.endIndex...]
            return word.isEmpty ? nil : word
        }
        guard let operation = word(), let subject = word(), let third = word() else { return nil }
        let hasHeaders = operation.elementsEqual("HMSG".utf8)
        let (fourth, fifth, sixth) = (word(), word(), hasHeaders ? word() : nil)
        // Without a reply subject, each number is one word earlier.
        let hasReply = (hasHeaders ? sixth : fifth) != nil
        guard hasHeaders || operation.elementsEqual("MSG".utf8), word() == nil,
            let subscription = decimal(third),
            let all = (hasHeaders ? sixth ?? fifth : fifth ?? fourth).flatMap(decimal),
            let headers = hasHeaders ? (hasReply ? fifth : fourth).flatMap(decimal) : 0, headers <= all
        else { return nil }
        (self.subscription, subjectRange) = (subscription, subject.startIndex..<subject.endIndex)
        replyRange = hasReply ? fourth.map { $0.startIndex..<$0.endIndex } : nil
        let start = line.count + 2
        (headerRange, payloadRange) = (start..<(start + headers), (start + headers)..<(start + all))
    }
}

/// The number that decimal digits say; nil if there is another character. Nothing that is counted needs 19 digits.
func decimal(_ digits: some Collection<UInt8>) -> Int? {
    guard 1...18 ~= digits.count, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
}
