import DeliveryRecording
import SharedTesting
import Testing

@testable import DeliveryDiagnostics

@Suite("Reading logs")
struct LogReaderTests {
    @Test("lines are read from chunks of any size")
    func chunks() throws {
        for size in 1...80 {
            var reader = LogReader(name: "log", text: ReferenceLog.listing1.text, chunk: size)
            var messages: [String] = []
            while let line = try reader.next() {
                #expect(line.number == messages.count + 1)
                #expect(line.isComplete)
                messages.append(line.line.message)
            }
            #expect(messages.count == 3)
            #expect(messages.last == "test notification")
        }
    }

    @Test("a log truncated anywhere gives a line, an error or the end, with the line number")
    func endsEarly() {
        let text = Array(ReferenceLog.listing4.text.utf8)
        for length in 0..<text.count {
            var reader = LogReader(name: "cut.log", bytes: Array(text[..<length]), chunk: 64)
            var lines = 0
            do throws(LogError) {
                while let line = try reader.next() {
                    lines += 1
                    let complete = lines <= text[..<length].count { $0 == UInt8(ascii: "\n") }
                    #expect(line.isComplete == complete)
                }
                #expect(lines == text[..<length].split(separator: UInt8(ascii: "\n")).count)
                #expect(length > 0)
            } catch {
                #expect(error.log == "cut.log")
                #expect(error.line == (length == 0 ? nil : lines + 1))
                #expect(length == 0 || error.problem.contains("it may be truncated"))
            }
        }
    }

    @Test("random bytes do not trap")
    func randomBytes() {
        var generator = SeededGenerator(seed: 20)
        for _ in 0..<2000 {
            let count = Int.random(in: 0..<200, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            var reader = LogReader(name: "random", bytes: bytes, chunk: 50)
            #expect(throws: LogError.self) { while try reader.next() != nil {} }
        }
    }

    @Test("mutations of a log do not trap")
    func mutations() {
        var generator = SeededGenerator(seed: 21)
        for _ in 0..<5000 {
            var bytes = Array(ReferenceLog.listing1.text.utf8)
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: "{number = ".utf8, at: index)
                }
            }
            let reader = LogReader(name: "mutated", bytes: bytes, chunk: 50)
            _ = try? LogComparison.compare(LogReader(.listing1), reader)
        }
    }

    @Test("a line of a gigabyte is rejected after its first 64 KiB")
    func longLine() {
        var given = 0
        var reader = LogReader(name: "long.log") { buffer in
            guard given < 1 << 30 else { return 0 }
            buffer.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "a"))
            given += buffer.count
            return buffer.count
        }
        let error = #expect(throws: LogError.self) { try reader.next() }
        #expect(error?.line == 1)
        #expect(error?.problem.contains("longer than 65536 bytes") == true)
        #expect(given < 4 * LogReader.longestLine)
    }

    @Test("the maximum line length does not depend on the chunks", arguments: [1000, 65_536])
    func chunksOfALongLine(chunk: Int) {
        let line = "2016-02-13 22:05:12.856 test[865:45102] " + String(repeating: "a", count: 70_000) + "\n"
        var reader = LogReader(name: "log", text: line, chunk: chunk)
        #expect(throws: LogError.self) { try reader.next() }
    }

    @Test("an error names the file, the line, the expected format and the actual text")
    func errorWords() {
        var reader = LogReader(name: "run.log", text: ReferenceLog.listing1.text + "hello \u{1B}[31mred\n", chunk: 100)
        let error = #expect(throws: LogError.self) { while try reader.next() != nil {} }
        #expect(
            error?.description == """
                run.log:4: this is not a log line: it does not begin with a date and a time. Expected a line such as \
                "2016-02-13 22:05:12.856 test[865:45102] a message", found "hello \\u{1B}[31mred".
                """)
    }

    @Test("a file that cannot be read is an error with its cause")
    func unreadable() {
        let missing = #expect(throws: LogError.self) { try LogReader(path: "/nonexistent/run.log") }
        #expect(missing?.description == "/nonexistent/run.log: cannot be opened: No such file or directory.")
        let folder = #expect(throws: LogError.self) {
            var reader = try LogReader(path: "/")
            _ = try reader.next()
        }
        #expect(folder?.description == "/: cannot be read: Is a directory.")
    }
}

extension LogReader {
    init(name: String, text: String, chunk: Int = 1000) {
        self.init(name: name, bytes: Array(text.utf8), chunk: chunk)
    }
}
