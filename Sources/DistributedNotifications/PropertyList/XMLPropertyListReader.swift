internal import Foundation

/// Reads XML property lists: the elements of one, comments, CDATA, and the five entities that XML has of itself.
///
/// No entity is declared and nothing is fetched, so nothing expands.
struct XMLPropertyListReader {
    private typealias Problem = PropertyListReader.Problem

    private struct Tag {
        enum Kind { case begin, end, empty }

        var name: String
        var kind: Kind
        var offset: Int
    }

    private let bytes: [UInt8]
    private var offset: Int
    private var budget = PropertyListBudget()

    static func read(_ bytes: [UInt8], from start: Int) throws(PropertyListReader.Problem) -> PropertyListValue {
        var reader = XMLPropertyListReader(bytes: bytes, offset: start)
        var tag = try reader.readTag()
        let isWrapped = tag.name == "plist" && tag.kind == .begin
        if isWrapped { tag = try reader.readTag() }
        let value = try reader.readValue(tag, depth: 1)
        if isWrapped {
            let end = try reader.readTag()
            guard end.name == "plist", end.kind == .end else {
                throw Problem(offset: end.offset, text: "</plist> should be here: a property list is one value")
            }
        }
        try reader.skipMisc()
        guard reader.offset == bytes.count else {
            throw Problem(offset: reader.offset, text: "there is more after the end of the property list")
        }
        return value
    }

    private init(bytes: [UInt8], offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    private func problem(_ text: String, at place: Int? = nil) -> PropertyListReader.Problem {
        Problem(offset: place ?? offset, text: text)
    }

    private func check(_ text: String?, at place: Int) throws(PropertyListReader.Problem) {
        if let text { throw problem(text, at: place) }
    }

    private func isNext(_ text: StaticString) -> Bool {
        bytes[min(offset, bytes.count)...].starts(
            with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Goes behind the next place where this is, and returns what is before it.
    private mutating func skip(
        through end: StaticString, of what: String
    ) throws(PropertyListReader.Problem) -> ArraySlice<UInt8> {
        let start = offset
        while offset < bytes.count {
            if isNext(end) {
                defer { offset += end.utf8CodeUnitCount }
                return bytes[start..<offset]
            }
            offset += 1
        }
        throw problem("\(what) that begins here has no end", at: start)
    }

    /// Skips what is between elements: space, comments, processing instructions, the document type.
    private mutating func skipMisc() throws(PropertyListReader.Problem) {
        while offset < bytes.count {
            if bytes[offset].isXMLSpace {
                offset += 1
            } else if isNext("<!--") {
                try skipComment()
            } else if isNext("<?") {
                try skipInstruction()
            } else if isNext("<!DOCTYPE") {
                let start = offset
                let type = try skip(through: ">", of: "the document type")
                guard !type.contains(UInt8(ascii: "[")) else {
                    throw problem(
                        "the document type has declarations of its own, which are not read. Remove [ to ]", at: start)
                }
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(PropertyListReader.Problem) {
        offset += 4
        _ = try skip(through: "-->", of: "the comment")
    }

    private mutating func skipInstruction() throws(PropertyListReader.Problem) {
        let start = offset
        let text = String(decoding: try skip(through: "?>", of: "the instruction"), as: UTF8.self)
        guard text.hasPrefix("<?xml"), let name = text.range(of: "encoding=") else { return }
        let encoding = text[name.upperBound...].dropFirst().prefix { $0 != "\"" && $0 != "'" }
        guard ["utf-8", "us-ascii"].contains(encoding.lowercased()) else {
            throw problem(
                "the encoding \(PropertyListReader.shown(String(encoding))) is not read, only UTF-8. 'iconv' converts it",
                at: start)
        }
    }

    /// Reads the next tag, and refuses text before it.
    private mutating func readTag() throws(PropertyListReader.Problem) -> Tag {
        try skipMisc()
        guard offset < bytes.count else { throw problem("the file ends too early") }
        guard bytes[offset] == UInt8(ascii: "<") else {
            throw problem("there is text between the elements. Strings are in <string>")
        }
        let start = offset
        let isEnd = isNext("</")
        offset += isEnd ? 2 : 1
        var text = try skip(through: ">", of: "the element")
        let isEmpty = !isEnd && text.last == UInt8(ascii: "/")
        if isEmpty { text = text.dropLast() }
        let name = text.prefix { !$0.isXMLSpace }
        let rest = text[name.endIndex...].drop(while: \.isXMLSpace)
        let tag = Tag(
            name: String(decoding: name, as: UTF8.self), kind: isEnd ? .end : isEmpty ? .empty : .begin, offset: start)
        guard rest.isEmpty || tag.name == "plist" && tag.kind == .begin else {
            throw problem("<\(PropertyListReader.shown(tag.name))> has attributes, which mean nothing here", at: start)
        }
        return tag
    }

    private mutating func readValue(_ tag: Tag, depth: Int) throws(PropertyListReader.Problem) -> PropertyListValue {
        guard tag.kind != .end else {
            throw problem(
                "a value should be here, and not the end of \(PropertyListReader.shown(tag.name))", at: tag.offset)
        }
        switch tag.name {
        case "dict", "array":
            try check(PropertyListBudget.problem(depth: depth), at: tag.offset)
            try check(budget.takeValue(bytes: 0, isCounted: true), at: tag.offset)
            return tag.name == "dict"
                ? .dictionary(try readDictionary(tag, depth: depth)) : .array(try readArray(tag, depth: depth))
        case "true", "false":
            try check(budget.takeValue(bytes: 0), at: tag.offset)
            guard try readText(tag).isEmpty else { throw problem("<\(tag.name)/> has no text", at: tag.offset) }
            return .boolean(tag.name == "true")
        case "string":
            let string = try readText(tag)
            try check(budget.takeValue(bytes: string.utf8.count, isCounted: true), at: tag.offset)
            return .string(string)
        case "data":
            // Broken into lines, and indented.
            let text = try readText(tag).utf8.filter { !$0.isXMLSpace }
            guard let data = Data(base64Encoded: Data(text)) else {
                throw problem("<data> has something that is not base64", at: tag.offset)
            }
            try check(budget.takeValue(bytes: data.count, isCounted: true), at: tag.offset)
            return .data(data)
        case "integer", "real", "date":
            try check(budget.takeValue(bytes: 8), at: tag.offset)
            let text = try readText(tag)
            guard let value = Self.value(text, of: tag.name) else {
                throw problem(
                    "<\(tag.name)> has \(PropertyListReader.shown(text)), and \(Self.form(of: tag.name))",
                    at: tag.offset)
            }
            return value
        default:
            throw problem(
                "\(PropertyListReader.shown(tag.name)) is no element of a property list. Those are dict, array, string, integer, "
                    + "real, true, false, date and data", at: tag.offset)
        }
    }

    private static func value(_ text: String, of name: String) -> PropertyListValue? {
        let bytes = Array(text.utf8)
        let space = bytes.prefix(while: \.isXMLSpace).count
        let trimmed = bytes[space...].reversed().drop(while: \.isXMLSpace).reversed()
        let word = String(decoding: trimmed, as: UTF8.self)
        switch name {
        case "integer": return integer(word).map { .integer($0) }
        case "date": return PropertyListDate.date(Array(trimmed)).map { .date($0) }
        default: break
        }
        switch word.lowercased() {
        case "nan": return .real(.nan)
        case "inf", "+inf", "infinity", "+infinity": return .real(.infinity)
        case "-inf", "-infinity": return .real(-.infinity)
        default: return PropertyListNumber.real(word).map { .real($0) }
        }
    }

    /// In decimal, or, as Foundation takes it, in hexadecimal after 0x.
    private static func integer(_ word: String) -> Int64? {
        let isNegative = word.hasPrefix("-")
        let digits = isNegative || word.hasPrefix("+") ? word.dropFirst() : word[...]
        let sign = isNegative ? "-" : ""
        guard let first = digits.utf8.first, first.isDigit else { return nil }
        let prefix = digits.prefix(2)
        guard prefix == "0x" || prefix == "0X" else { return Int64(sign + digits) }
        guard digits.dropFirst(2).first?.isHexDigit == true else { return nil }
        return Int64(sign + digits.dropFirst(2), radix: 16)
    }

    private static func form(of name: String) -> String {
        switch name {
        case "integer": PropertyListNumber.integers
        case "date": "a date is written as 2016-02-13T22:05:12Z"
        default: "a real is written as -1.5e10"
        }
    }

    private mutating func readArray(_ tag: Tag, depth: Int) throws(PropertyListReader.Problem) -> [PropertyListValue] {
        var array: [PropertyListValue] = []
        while tag.kind == .begin {
            let member = try readTag()
            if member.kind == .end, member.name == tag.name { break }
            array.append(try readValue(member, depth: depth + 1))
        }
        return array
    }

    private mutating func readDictionary(
        _ tag: Tag, depth: Int
    ) throws(PropertyListReader.Problem) -> [String: PropertyListValue] {
        var dictionary: [String: PropertyListValue] = [:]
        while tag.kind == .begin {
            let keyTag = try readTag()
            if keyTag.kind == .end, keyTag.name == tag.name { break }
            guard keyTag.name == "key", keyTag.kind != .end else {
                throw problem("<key> or </dict> should be here", at: keyTag.offset)
            }
            let key = try readText(keyTag)
            try check(budget.takeKey(bytes: key.utf8.count), at: keyTag.offset)
            let value = try readValue(try readTag(), depth: depth + 1)
            guard dictionary.updateValue(value, forKey: key) == nil else {
                throw problem("the key \(PropertyListReader.shown(key)) is there twice", at: keyTag.offset)
            }
        }
        return dictionary
    }

    /// Reads what is in an element, and its end.
    private mutating func readText(_ tag: Tag) throws(PropertyListReader.Problem) -> String {
        var text: [UInt8] = []
        while tag.kind == .begin {
            guard offset < bytes.count else { throw problem("<\(tag.name)> has no end", at: tag.offset) }
            if isNext("<!--") {
                try skipComment()
            } else if isNext("<![CDATA[") {
                offset += 9
                text += try skip(through: "]]>", of: "the CDATA")
            } else if bytes[offset] == UInt8(ascii: "<") {
                let end = try readTag()
                guard end.kind == .end, end.name == tag.name else {
                    throw problem("</\(tag.name)> should be here. A < in text is written &lt;", at: end.offset)
                }
                break
            } else if bytes[offset] == UInt8(ascii: "&") {
                try readEntity(into: &text)
            } else {
                text.append(bytes[offset])
                offset += 1
            }
        }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw problem("the text of <\(tag.name)> is not UTF-8", at: tag.offset)
        }
        return string
    }

    private mutating func readEntity(into text: inout [UInt8]) throws(PropertyListReader.Problem) {
        let start = offset
        // The longest is &#1114111; without leading zeros, of which a few are allowed.
        let name = bytes[(offset + 1)...].prefix(16).prefix { $0 != UInt8(ascii: ";") }
        offset = name.endIndex + 1
        let known = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
        let word = String(decoding: name, as: UTF8.self)
        if name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: ";") {
            if let character = known[word] {
                text += character.utf8
                return
            }
            let isHexadecimal = word.hasPrefix("#x")
            let digits = word.dropFirst(isHexadecimal ? 2 : 1)
            if word.hasPrefix("#"), digits.first?.isHexDigit == true,
                let scalar = UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init),
                scalar != "\u{0}"
            {
                text += Character(scalar).utf8
                return
            }
        }
        throw problem(
            "\(PropertyListReader.shown("&" + word)) is no entity. Those are &lt; &gt; &amp; &quot; &apos; and numbers as &#8211;; "
                + "an & alone is written &amp;", at: start)
    }
}
