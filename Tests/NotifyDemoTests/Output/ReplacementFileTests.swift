import DeliveryRecording
import Foundation
import Testing

@testable import notify_demo

@Suite("Replacement files")
struct ReplacementFileTests {
    private func inDirectory(_ body: (URL) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory)
    }

    private func text(_ file: URL) throws -> String { String(decoding: try Data(contentsOf: file), as: UTF8.self) }

    @Test("the destination is unchanged until it is replaced, and no other file is left")
    func replaceDestination() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "a")
            try Data("old".utf8).write(to: file)
            let replacement = try ReplacementFile(file.path)
            try Data("new".utf8).write(to: URL(filePath: replacement.path))
            #expect(try text(file) == "old")
            try replacement.replaceDestination()
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a"])
        }
    }

    @Test("a discarded file is removed, and the destination is unchanged")
    func discard() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "a")
            try Data("old".utf8).write(to: file)
            _ = try ReplacementFile(file.path)
            #expect(try text(file) == "old")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a"])
        }
    }

    @Test("the permissions of the destination are kept")
    func permissions() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "a")
            try Data("old".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
            #expect(try ReplacementFile(file.path).replaceDestination())
            #expect(FileStatus(path: file.path)?.permissions == 0o640)
        }
    }

    @Test("a file that cannot replace the destination is copied into it and removed")
    func copied() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "a")
            try Data("old and longer".utf8).write(to: file)
            do {
                let replacement = try ReplacementFile(file.path)
                try Data("new".utf8).write(to: URL(filePath: replacement.path))
                // A file without a name cannot be renamed, but its content can be read.
                try FileManager.default.removeItem(atPath: replacement.path)
                let identity = FileStatus(path: file.path)?.identity
                #expect(try !replacement.replaceDestination())
                #expect(FileStatus(path: file.path)?.identity == identity)
            }
            #expect(try text(file) == "new")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a"])
        }
    }

    @Test("a file that can neither replace the destination nor be copied is complete and stays")
    func kept() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "a")
            try Data("old".utf8).write(to: file)
            let replacement = try ReplacementFile(file.path)
            try Data("new".utf8).write(to: URL(filePath: replacement.path))
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            #expect(throws: (any Error).self) { try replacement.replaceDestination() }
            #expect(replacement.isKept)
            #expect(try text(URL(filePath: replacement.path)) == "new")
        }
    }

    @Test("a missing directory, a directory as the destination, and an empty path are errors")
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
