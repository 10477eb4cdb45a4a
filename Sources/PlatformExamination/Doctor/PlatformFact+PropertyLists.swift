internal import DistributedNotifications
internal import Foundation

/// F23: property lists from another process. This package's counterpart is the reader of a userInfo on the wire.
extension PlatformFact {
    static let propertyLists: [PlatformFact] = [
        PlatformFact(
            number: "F23", area: "PropertyListSerialization", expected: "bytes of anybody can be read, or refused",
            questions: [
                TrialQuestion(
                    "list-with-a-set", "a list of \(listWithSet.count) bytes with a set in it", sentence: inLists,
                    expected: TrialExpectation(events: ["read or refused"]),
                    foundation: { notes in
                        read(listWithSet)
                        notes.note("read or refused")
                    },
                    ours: .other(TrialExpectation(events: ["PropertyListReader: refused"])) { notes in
                        refuse(listWithSet, notes)
                    }),
                TrialQuestion(
                    "list-that-expands", "a list of \(listThatExpands.count) bytes takes less than 10 MB",
                    sentence: inLists,
                    expected: TrialExpectation(events: ["takes less"]),
                    foundation: { notes in
                        let before = peakMemory()
                        read(listThatExpands)
                        noteMemory(since: before, notes)
                    },
                    ours: .other(TrialExpectation(events: ["PropertyListReader: refused", "takes less"])) { notes in
                        let before = peakMemory()
                        refuse(listThatExpands, notes)
                        noteMemory(since: before, notes)
                    }),
            ])
    ]

    private static let inLists =
        "the optional user-info dictionary can contain only property list objects, such as NSString and NSNumber."

    private static func read(_ list: Data) {
        _ = try? PropertyListSerialization.propertyList(from: list, options: [], format: nil)
    }

    private static func refuse(_ list: Data, _ notes: TrialNotes) {
        do {
            try list.withUnsafeBytes { _ = try PropertyListReader.decode($0) }
            notes.note("PropertyListReader: read")
        } catch {
            notes.note("PropertyListReader: refused", detail: "\(error)")
        }
    }

    private static func noteMemory(since before: Int, _ notes: TrialNotes) {
        let megabytes = (peakMemory() - before) / 1024
        notes.note(megabytes < 10 ? "takes less" : "takes more", detail: "\(megabytes) MB")
    }

    /// An array that contains a set that contains a string.
    private static let listWithSet = binaryList(of: [[0xA1, 1], [0xC1, 2], [0x51, UInt8(ascii: "A")]])

    /// Seven nested arrays, each with 8 references to the next: one string, 2,097,152 times.
    private static let listThatExpands = binaryList(
        of: (1...7).map { [0xA8] + [UInt8](repeating: $0, count: 8) } + [[0x51, UInt8(ascii: "A")]])

    /// Apple's binary format: the objects, which refer to each other by index; the offset of each; and a trailer.
    private static func binaryList(of objects: [[UInt8]]) -> Data {
        var list = Data("bplist00".utf8)
        var beginnings: [UInt8] = []
        for object in objects {
            beginnings.append(UInt8(list.count))
            list.append(contentsOf: object)
        }
        let table = UInt8(list.count)
        list.append(contentsOf: beginnings)
        // Sizes of a beginning and of a reference; then, of 8 bytes each, how many objects, the first, and where the
        // table is.
        list.append(contentsOf: [0, 0, 0, 0, 0, 0, 1, 1])
        for number in [UInt8(objects.count), 0, table] { list.append(contentsOf: [0, 0, 0, 0, 0, 0, 0, number]) }
        return list
    }

    /// The peak memory of this process, in kilobytes.
    private static func peakMemory() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
