import Foundation
import Testing

@testable import DeliveryDiagnostics

/// A file that takes another's place when it is complete.
@Suite("Replacement files")
struct ReplacementFileTests {
    private func inDirectory(_ body: (URL) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory)
    }

    private func text(_ file: URL) throws -> String { String(decoding: try Data(contentsOf: file), as: UTF8.self) }

    @Test("until it is placed the destination is unchanged, and afterwards only the destination is there")
    func place() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "a")
            try Data("old".utf8).write(to: file)
            let replacement = try ReplacementFile(file.path)
            try Data("new".utf8).write(to: URL(filePath: replacement.path))
            #expect(try text(file) == "old")
            try replacement.place()
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a"])
        }
    }

    @Test("one that is not placed is removed, and the destination stays as it was")
    func discard() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "a")
            try Data("old".utf8).write(to: file)
            _ = try ReplacementFile(file.path)
            #expect(try text(file) == "old")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a"])
        }
    }

    @Test("the permissions of the file that was there are kept")
    func permissions() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "a")
            try Data("old".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
            #expect(try ReplacementFile(file.path).place())
            #expect(FileStatus(path: file.path)?.permissions == 0o640)
        }
    }

    @Test("a file that cannot take the destination's place is copied into it, and is removed")
    func copied() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "a")
            try Data("old and longer".utf8).write(to: file)
            do {
                let replacement = try ReplacementFile(file.path)
                try Data("new".utf8).write(to: URL(filePath: replacement.path))
                // A name that is not there any more cannot be renamed; the content still can be read.
                try FileManager.default.removeItem(atPath: replacement.path)
                let identity = FileStatus(path: file.path)?.identity
                #expect(try !replacement.place())
                #expect(FileStatus(path: file.path)?.identity == identity)
            }
            #expect(try text(file) == "new")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a"])
        }
    }

    @Test("one that cannot be placed is complete, and stays")
    func kept() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "a")
            try Data("old".utf8).write(to: file)
            let replacement = try ReplacementFile(file.path)
            try Data("new".utf8).write(to: URL(filePath: replacement.path))
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            #expect(throws: (any Error).self) { try replacement.place() }
            #expect(replacement.isKept)
            #expect(try text(URL(filePath: replacement.path)) == "new")
        }
    }

    @Test("a directory that is not there, a directory in its place and no name at all are refused")
    func refused() throws {
        try inDirectory { directory in
            for path in [directory.path + "/none/a", directory.path, ""] {
                #expect(throws: (any Error).self, "\(path)") { _ = try ReplacementFile(path) }
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(names.isEmpty)
        }
    }
}
