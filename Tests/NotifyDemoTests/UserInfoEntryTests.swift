import ArgumentParser
import DistributedNotifications
import Testing

@testable import notify_demo

@Suite("Entries of userInfo on the command line")
struct UserInfoEntryTests {
    @Test("the value after = is text")
    func text() throws {
        for (entry, key, value) in [
            ("a=b", "a", "b"), ("a=", "a", ""), ("a=3", "a", "3"), ("a=b=c", "a", "b=c"), ("a b= c ", "a b", " c "),
            ("a=b:=c", "a", "b:=c"), ("a:b=c", "a:b", "c"), ("é=ü", "é", "ü"),
        ] {
            let read = try UserInfoEntry(entry)
            #expect(read.key == key, "\(entry)")
            #expect(read.value == .string(value), "\(entry)")
        }
    }

    @Test(
        "the value after := is JSON, where 3 is an integer and 3.0 a real",
        arguments: [
            ("3", .integer(3)), ("-9223372036854775808", .integer(.min)), ("0", .integer(0)), ("3.0", .real(3)),
            ("-1.5e2", .real(-150)), ("1E1", .real(10)), ("true", .boolean(true)), (" false ", .boolean(false)),
            (#""\u00e9\n\"""#, .string("é\n\"")), ("[]", .array([])), ("{}", .dictionary([:])),
            ("[1, [2.5], \"x\"]", .array([.integer(1), .array([.real(2.5)]), .string("x")])),
            (
                #"{"a": {"b": [true, {}]}, "c": []}"#,
                .dictionary(["a": .dictionary(["b": .array([.boolean(true), .dictionary([:])])]), "c": .array([])])
            ),
        ] as [(String, PropertyListValue)])
    func json(text: String, value: PropertyListValue) throws {
        let entry = try UserInfoEntry("k:=\(text)")
        #expect(entry.key == "k")
        #expect(entry.value == value)
    }

    @Test(
        "a malformed entry is refused with the reason",
        arguments: [
            ("", "has no \"=\""), ("a", "has no \"=\""), ("=a", "has no key"), (":=3", "has no key"),
            ("a:=", "ends too early"), ("a:=x", "is not JSON at byte 1"), ("a:=3 4", "is not JSON at byte 3"),
            ("a:=[1", "ends too early"), ("a:=[1,]", "is not JSON at byte 4"), ("a:={1:2}", "is not JSON at byte 2"),
            ("a:={\"b\"}", "is not JSON at byte 5"), ("a:=\"b", "without an end"), ("a:=\"\\", "without an end"),
            ("a:=\"\\x\"", "not JSON"), ("a:=01", "not a JSON number"), ("a:=1.", "not a JSON number"),
            ("a:=-", "not a JSON number"),
            ("a:=9223372036854775808", "64 bits"), ("a:=1e999", "64 bits"), ("a:=null", "null"),
            ("a:=[null]", "null"), ("a:={\"b\":1,\"b\":2}", "the key \"b\" twice"),
            ("a:=\(String(repeating: "[", count: 100_000))", "deeper than 64"),
        ])
    func refused(entry: String, reason: String) throws {
        let error = #expect(throws: ValidationError.self) { try UserInfoEntry(entry) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test("many siblings are not nesting")
    func siblings() throws {
        let entry = try UserInfoEntry("a:=[\(Array(repeating: "[],{}", count: 200).joined(separator: ","))]")
        guard case .array(let values) = entry.value else { throw ValidationError("no array") }
        #expect(values.count == 400)
    }

    @Test("a duplicate key is refused")
    func twice() throws {
        #expect(try UserInfoEntry.userInfo(["a=1", "b:=2"]) == ["a": .string("1"), "b": .integer(2)])
        #expect(throws: ValidationError.self) { try UserInfoEntry.userInfo(["a=1", "a=1"]) }
    }

    @Test("a name or object that a center refuses is refused before anything is started")
    func words() throws {
        func refuses(_ name: String?, _ object: String? = nil) -> Bool {
            do {
                try NotificationWords(name: name, object: object).validate()
                return false
            } catch { return true }
        }
        #expect(refuses(""))
        #expect(refuses("a\0b"))
        #expect(refuses("a", "o\0"))
        #expect(refuses(String(repeating: "é", count: 128)))
        #expect(refuses("a", String(repeating: "o", count: 1025)))
        #expect(!refuses(String(repeating: "a", count: 255), String(repeating: "o", count: 1024)))
        #expect(!refuses("a", ""))
        #expect(!refuses(nil))
    }
}
