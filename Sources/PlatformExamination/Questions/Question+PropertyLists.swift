internal import DistributedNotifications
internal import Foundation

/// F23: property lists from another process. This package's counterpart is the reader of a userInfo on the wire.
extension Question {
    static let propertyLists: [Question] = [
        Question(
            "list-with-a-set", "a list of \(listWithSet.count) bytes with a set in it", sentence: inLists, fact: "F23",
            expected: ["read or refused"], ofOurs: ["PropertyListReader: refused"]
        ) { trial in
            read(listWithSet)
            trial.note("read or refused")
        } ours: { trial in
            refuse(listWithSet, trial)
        },
        Question(
            "list-that-expands", "a list of \(listThatExpands.count) bytes takes less than 10 MB", sentence: inLists,
            fact: "F23", expected: ["takes less"], ofOurs: ["PropertyListReader: refused", "takes less"]
        ) { trial in
            noteMemory(trial) { read(listThatExpands) }
        } ours: { trial in
            noteMemory(trial) { refuse(listThatExpands, trial) }
        },
    ]

    private static let inLists =
        "the optional user-info dictionary can contain only property list objects, such as NSString and NSNumber."

    private static func read(_ list: Data) {
        _ = try? PropertyListSerialization.propertyList(from: list, options: [], format: nil)
    }

    private static func refuse(_ list: Data, _ trial: Trial) {
        do {
            try list.withUnsafeBytes { _ = try PropertyListReader.decode($0) }
            trial.note("PropertyListReader: read")
        } catch {
            trial.note("PropertyListReader: refused", detail: "\(error)")
        }
    }

    private static func noteMemory(_ trial: Trial, of body: () -> Void) {
        let before = peakMemory()
        body()
        let megabytes = (peakMemory() - before) / 1024
        trial.note(megabytes < 10 ? "takes less" : "takes more", detail: "\(megabytes) MB")
    }

    /// An array that contains a set that contains a string.
    private static let listWithSet = binaryList(of: [[0xA1, 1], [0xC1, 2], [0x51, UInt8(ascii: "A")]])

    /// Seven nested arrays, each with 8 references to the next: one string, 2,097,152 times.
    private static let listThatExpands = binaryList(
        of: (1...7).map { [0xA8] + [UInt8](repeating: $0, count: 8) } + [[0x51, UInt8(ascii: "A")]])

    /// A property list in Apple's binary format: the objects, which refer to each other by index; the offset of each;
    /// and a trailer with the sizes of an offset and of a reference, the number of objects, the index of the first, and
    /// the offset of the offsets.
    private static func binaryList(of objects: [[UInt8]]) -> Data {
        let header = Data("bplist00".utf8)
        let offsets = (0...objects.count).map { UInt8(header.count + objects.prefix($0).joined().count) }
        let numbers = [UInt8(objects.count), 0, offsets[objects.count]]
        let trailer: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 1] + numbers.flatMap { [0, 0, 0, 0, 0, 0, 0, $0] as [UInt8] }
        return header + Array(objects.joined()) + offsets.dropLast() + trailer
    }

    /// The peak memory of this process, in kilobytes.
    private static func peakMemory() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
