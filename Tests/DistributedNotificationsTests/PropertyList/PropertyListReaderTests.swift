import Foundation
import Testing

@testable import DistributedNotifications

@Suite("Reading a userInfo from a file")
struct PropertyListReaderTests {
    private static func refusal(_ bytes: [UInt8]) -> String? {
        do throws(DistributedError) {
            _ = try PropertyListReader.value(bytes, name: "F")
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static func refusal(_ text: String) -> String? { refusal(Array(text.utf8)) }

    private static func read(_ text: String) throws -> PropertyListValue {
        try PropertyListReader.value(Array(text.utf8), name: "F")
    }

    private static func xml(_ value: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">\(value)</plist>

        """
    }

    /// A binary list of these objects, the first of them the outermost.
    private static func binary(_ objects: [[UInt8]]) -> [UInt8] {
        var (bytes, offsets) = (Array("bplist00".utf8), [UInt8]())
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
            bytes += object
        }
        func wide(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(number).bigEndian, Array.init) }
        return bytes + offsets + [0, 0, 0, 0, 0, 0, 2, 1] + wide(objects.count) + wide(0) + wide(bytes.count)
    }

    @Test(
        "what Foundation wrote is read as Foundation means it",
        arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func againstFoundation(format: PropertyListSerialization.PropertyListFormat) throws {
        var random = RandomPropertyList(seed: 21)
        random.hasNUL = format == .binary
        for _ in 0..<400 {
            let userInfo = random.userInfo()
            let object = PropertyListValue.dictionary(userInfo).foundationObject
            let bytes = try PropertyListSerialization.data(fromPropertyList: object, format: format, options: 0)
            let value = try PropertyListReader.userInfo(Array(bytes), name: "F")
            #expect(value == userInfo)
            // Foundation reads what it wrote itself, and says the same.
            let again = try PropertyListSerialization.propertyList(from: bytes, format: nil)
            #expect(try PropertyListValue(again) == .dictionary(value))
        }
    }

    @Test("what Foundation wrote as JSON is read as it was")
    func againstFoundationJSON() throws {
        var random = RandomPropertyList(seed: 22)
        random.isJSON = true
        let encoder = JSONEncoder()
        for pretty in [false, true] {
            encoder.outputFormatting = pretty ? .prettyPrinted : []
            for _ in 0..<300 {
                let userInfo = random.userInfo()
                #expect(try PropertyListReader.userInfo(Array(encoder.encode(userInfo)), name: "F") == userInfo)
            }
        }
    }

    @Test("XML as people write it is read: comments, CDATA, entities, space, signs")
    func xmlByHand() throws {
        let text = """
            \u{feff}<!-- first --><plist version='1.0'><!-- a --><dict >
            <key>a<!-- in it -->b</key> <string>&lt;&amp;&gt;&quot;&apos;&#8211;&#x1F4EC;<![CDATA[<&]]></string>
            <key/><array><integer> +7
            </integer><integer>-0x1F</integer><real>-1.5e3</real><real>NaN</real><real>+infinity</real></array>
            <key>t</key><true></true><key>d</key><data>
                AA
                //</data>
            <key>w</key><date>2016-02-13T22:05:12Z</date><key>e</key><dict/><key>s</key><string/></dict></plist><!-- last -->
            """
        let value = try Self.read(text)
        #expect(value["ab"] == "<&>\"'–📬<&" && value[""]?.arrayValue?.prefix(3) == [7, -31, -1500.0])
        #expect(value[""]?[3]?.realValue?.isNaN == true && value[""]?[4]?.realValue == .infinity)
        #expect(
            value["t"] == true && value["d"]?.dataValue == Data([0, 15, 255]) && value["e"] == [:] && value["s"] == "")
        #expect(value["w"]?.dateValue == Date(timeIntervalSinceReferenceDate: 477_093_912))
        #expect(try Self.read("<array><false/></array>") == [false])
    }

    @Test(
        "XML that is none, or no property list, is refused with the line",
        arguments: [
            ("<dict>\n", "the file ends too early"), ("<string>a", "<string> has no end"),
            ("<array>\n</dict>", "a value should be here, and not the end of \"dict\""),
            ("\n<dict><string/></dict>", "<key> or </dict> should be here"),
            ("<dict><key>a</key></dict>", "a value should be here, and not the end of \"dict\""),
            ("<dict><key>a</key><true/>\n<key>a</key><true/></dict>", "the key \"a\" is there twice"),
            ("<array>x</array>", "there is text between the elements"), ("<strong/>", "\"strong\" is no element"),
            ("<string>a<b/></string>", "</string> should be here"), ("<string a='b'/>", "has attributes"),
            ("<integer>1.5</integer>", "<integer> has \"1.5\", and an integer is from"),
            ("<integer/>", "<integer> has \"\""),
            ("<integer>9223372036854775808</integer>", "<integer> has \"9223372036854775808\", and"),
            ("<integer>--1</integer>", "<integer> has"), ("<integer>0x</integer>", "<integer> has"),
            ("<integer>0x-1</integer>", "<integer> has"), ("<real>1e999</real>", "a real is written as"),
            ("<real>0x1p3</real>", "a real is written as"), ("<real></real>", "a real is written as"),
            ("<date>yesterday</date>", "a date is written as 2016-02-13T22:05:12Z"), ("<data>A</data>", "not base64"),
            ("<true>x</true>", "<true/> has no text"), ("<string>&nbsp;</string>", "\"&nbsp\" is no entity"),
            ("<string>&#0;</string>", "is no entity"), ("<string>&#xD800;</string>", "is no entity"),
            ("<string>&#+65;</string>", "is no entity"), ("<string>a & b</string>", "is no entity"),
            ("<string>&", "is no entity"),
            ("<string>&lt", "is no entity"), ("<!-- <array/>", "the comment that begins here has no end"),
            ("<plist><true/><true/></plist>", "</plist> should be here"),
            ("<true/><true/>", "there is more after the end"),
            ("<!DOCTYPE plist [<!ENTITY a \"b\">]><true/>", "declarations of its own"),
            ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><true/>", "the encoding \"ISO-8859-1\" is not read"),
            ("<string>\n<![CDATA[a]]</string>", "the CDATA that begins here has no end"),
            ("<", "the element that begins here"),
        ])
    func xmlRefusals(text: String, problem: String) throws {
        let refusal = try #require(Self.refusal(text))
        #expect(refusal.contains(problem) && refusal.hasPrefix("F, line "))
    }

    @Test("the line that an error names is the one on which the fault is")
    func lines() {
        #expect(
            Self.refusal(Self.xml("\n<array>\n<integer>x</integer></array>"))?.hasPrefix(
                "F, line 5: <integer> has \"x\"") == true)
        #expect(Self.refusal("{\n\"a\": 1,\n\"b\": nul}")?.hasPrefix("F, line 3: \"nul\" is no JSON value") == true)
        #expect(
            Self.refusal([0x3c] + Array("string>".utf8) + [0xff] + Array("</string>".utf8))
                == "F, line 1: the text of <string> is not UTF-8.")
    }

    @Test("JSON is read, with what it has of escapes and numbers")
    func json() throws {
        let value = try Self.read(
            #" { "a" : [ 1 , -2, 0, 1.5, -0.0, 1e3, 2E-1, true, false, [], {} ], "b\"\\\/\b\f\n\r\t": "\u00e9\ud83d\udcecé📬" } "#
        )
        #expect(value["a"] == [1, -2, 0, 1.5, -0.0, 1000.0, 0.2, true, false, [], [:]])
        #expect(value["b\"\\/\u{8}\u{c}\n\r\t"] == "é📬é📬")
        #expect(value["a"]?[4]?.realValue?.sign == .minus)
    }

    @Test(
        "what is not quite JSON is refused",
        arguments: [
            ("{", "a key in \"\" should be here"), ("{a = b;}", "Property lists of the old form"),
            ("[1,]", "a value should be here"),
            ("{\"a\":1,}", "a key in \"\""), ("[1 2]", "a comma or ]"), ("{\"a\" 1}", "a colon"),
            ("{\"a\":1 \"b\":2}", "a comma or }"),
            ("[null]", "there is null"), ("[nil]", "\"nil\" is no JSON value"), ("[01]", "is no JSON value"),
            ("[+1]", "is no JSON value"),
            ("[--1]", "is no JSON value"), ("[1.]", "is no JSON value"), ("[.5]", "is no JSON value"),
            ("[1e]", "is no JSON value"),
            ("[-]", "is no JSON value"), ("[0x10]", "is no JSON value"), ("[NaN]", "is no JSON value"),
            ("[1e999]", "too large for a real"),
            ("[9223372036854775808]", "is too large: an integer is from"), ("[\"a]", "has no end"),
            ("[\"\n\"]", "control character"),
            (#"["\x"]"#, "no such escape"), (#"["\u12"]"#, "no such escape"), (#"["\ud83d"]"#, "half a character"),
            (#"["\udcec\ud83d"]"#, "half a character"), (#"["\ud83d\u0041"]"#, "half a character"),
            ("[\"\\", "no such escape"),
            ("{\"a\":1,\"a\":2}", "the key \"a\" is there twice"), ("[] []", "more after the end"),
            ("[", "it ends where a value"),
            ("[true/* */]", "is no JSON value"), ("{\"a\"", "a colon"),
        ])
    func jsonRefusals(text: String, problem: String) throws {
        #expect(try #require(Self.refusal(text)).contains(problem))
    }

    @Test("a file of another kind is refused with what to do")
    func otherKinds() {
        #expect(Self.refusal("") == "F, line 1: it is empty.")
        #expect(Self.refusal("a = b")?.contains("'plutil -convert xml1' converts others") == true)
        #expect(Self.refusal([0xff, 0xfe, 0x3c, 0])?.contains("'iconv -f UTF-16 -t UTF-8' converts it") == true)
        #expect(Self.refusal([UInt8](repeating: 0x20, count: (1 << 20) + 1))?.contains("larger than 1 MiB") == true)
        #expect(throws: DistributedError.self) { try PropertyListReader.userInfo(Array("[1]".utf8), name: "F") }
        #expect(throws: DistributedError.self) { try PropertyListReader.userInfo(path: "/") }
        do throws(DistributedError) {
            _ = try PropertyListReader.userInfo(path: "/nowhere/F")
            Issue.record("there is no such file")
        } catch {
            #expect("\(error)" == "/nowhere/F: cannot be opened: No such file or directory.")
        }
    }

    @Test("a file is read, whichever form it has")
    func files() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("userInfo-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for text in [Self.xml("<dict><key>a</key><integer>1</integer></dict>"), "{\"a\": 1}"] {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try PropertyListReader.userInfo(path: path) == ["a": 1])
        }
    }

    @Test("the lists that crash Foundation, or fill its memory, are refused")
    func foundationsFaults() throws {
        let set = Self.refusal(Self.binary([[0xa1, 1], [0xc1, 2], [0x51, 65]]))
        #expect(set == "F, byte 10: there is a set, which no userInfo has. Use an array.")
        for (width, depth) in [(8, 6), (10, 6), (8, 7)] {
            let levels = (1...depth).map { [0xa0 | UInt8(width)] + [UInt8](repeating: UInt8($0), count: width) }
            #expect(Self.refusal(Self.binary(levels + [[0x51, 65]]))?.contains("more than 60 KiB") == true)
            #expect(Self.refusal(Self.binary(levels + [[0x09]]))?.contains("more than 16384 values") == true)
        }
        // One string of 60 KiB, named 16,000 times.
        let (count, length) = (16_000, 61_000)
        var names = [UInt8](repeating: 1, count: count)
        names.insert(contentsOf: [0xaf, 0x11, UInt8(count >> 8), UInt8(count & 255)], at: 0)
        let text = [0x5f, 0x11, UInt8(length >> 8), UInt8(length & 255)] + [UInt8](repeating: 65, count: length)
        #expect(Self.refusal(Self.binary([names, text]))?.contains("is more than 60 KiB") == true)
    }

    @Test("a binary list whose objects hold each other is refused, on a thread with little stack")
    func circles() {
        nonisolated(unsafe) var results: [String?] = []  // Safety: read only after the thread has ended its work.
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread {
            results = [
                Self.refusal(Self.binary([[0xa1, 0]])), Self.refusal(Self.binary([[0xd1, 1, 0], [0x51, 65]])),
                Self.refusal(Self.xml(String(repeating: "<array>", count: 100_000))),
                Self.refusal(String(repeating: "[", count: 100_000)),
                Self.refusal(String(repeating: "{\"a\":", count: 100_000)),
            ]
            isDone.signal()
        }
        thread.stackSize = 512 << 10
        thread.start()
        isDone.wait()
        for result in results {
            #expect(result?.contains("more than 64 arrays and dictionaries in each other") == true)
        }
        #expect(results.count == 5)
    }

    @Test("each fault of a binary list is refused with the byte")
    func binaryRefusals() {
        func refusal(_ objects: [UInt8]...) -> String { Self.refusal(Self.binary(objects)) ?? "none" }
        #expect(refusal([0x00]).hasPrefix("F, byte 8: there is null"))
        #expect(refusal([0x0f]).hasPrefix("F, byte 8: no object begins with 0xf"))
        #expect(refusal([0x80, 1]).contains("keyed archive"))
        #expect(refusal([0x13, 0, 0]).contains("an integer ends too late"))
        #expect(refusal([0x15]).contains("no object begins with 0x15"))
        #expect(
            refusal([0x14] + [UInt8](repeating: 0, count: 8) + [0x80, 0, 0, 0, 0, 0, 0, 0]).contains("is too large"))
        #expect(refusal([0x23, 0]).contains("ends too late"))
        #expect(refusal([0x33, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0]).contains("a date is outside"))
        #expect(refusal([0x44, 1, 2]).contains("an object has more than there is"))
        #expect(
            refusal([0x4f, 0x13, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).contains("has more than there is"))
        #expect(
            refusal([0x4f, 0x13, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).contains("does not tell its length"))
        #expect(refusal([0x4f, 0x33, 0]).contains("does not tell its length"))
        #expect(refusal([0x51, 0x80]).contains("a string is not ASCII"))
        #expect(refusal([0x61, 0xd8, 0]).contains("a string is not UTF-16"))
        #expect(refusal([0xa1, 7]).hasPrefix("F, byte 9: an object is named that is not there"))
        #expect(refusal([0xd1, 1, 1], [0x08]).hasPrefix("F, byte 11: a key is no string"))
        #expect(refusal([0xd2, 1, 1, 2, 2], [0x51, 65], [0x08]).contains("the key \"A\" is there twice"))
        #expect(
            Self.refusal(Array("bplist01".utf8) + [UInt8](repeating: 0, count: 40))?.contains("only version 00") == true
        )
        #expect(Self.refusal(Array("bplist00".utf8)) == "F, byte 8: the file ends too early.")
        let sound = Self.binary([[0x09]])
        #expect(Self.refusal(sound) == nil)
        for place in (sound.count - 26)..<sound.count {
            var bytes = sound
            bytes[place] = 0xff
            #expect(Self.refusal(bytes) != nil)
        }
        #expect(Self.refusal([sound, [0]].flatMap { $0 }) != nil)
    }

    @Test(
        "whatever a file has become, it is read or refused, and no more than a userInfo comes of it",
        arguments: ["xml", "binary", "json"])
    func fuzz(form: String) throws {
        var random = RandomPropertyList(seed: UInt64(RandomPropertyList.inputs + form.count))
        (random.hasNUL, random.isJSON) = (false, form == "json")
        let words = [
            "<array>", "</dict>", "<key>", "&lt;", "&#", "<![CDATA[", "<!--", "]]>", "{", "}", "[", "\"", "\\u", ",",
            ":", "1e999",
            "99999999999999999999", "\u{0}",
        ]
        var (read, refused) = (0, 0)
        var bytes: [UInt8] = []
        let memory = RandomPropertyList.memory
        for input in 0..<RandomPropertyList.inputs {
            if input % 100 == 0 {
                let userInfo = random.userInfo(values: 20)
                let object = PropertyListValue.dictionary(userInfo).foundationObject
                let data =
                    form == "json"
                    ? try JSONEncoder().encode(userInfo)
                    : try PropertyListSerialization.data(
                        fromPropertyList: object, format: form == "xml" ? .xml : .binary, options: 0)
                bytes = Array(data)
            }
            let mutated = random.mutate(bytes, words: words)
            guard let value = try? PropertyListReader.value(mutated, name: "F") else {
                refused += 1
                continue
            }
            read += 1
            let (nodes, depth) = value.nodesAndDepth
            if nodes > 16_384 || depth > 64 { Issue.record("\(nodes) nodes, \(depth) deep: \(mutated)") }
            // What is read can be posted.
            if case .dictionary(let userInfo) = value { _ = try PropertyListCoderTests.encode(userInfo) }
        }
        #expect(read > 0 && refused > 0)
        RandomPropertyList.expectLittleMore(than: memory)
    }
}
