import Foundation
import Subprocess
import Testing

@testable import notify_demo

@Suite("Manual page")
struct ManualPageTests {
    private func command(_ name: String, _ json: String = "") throws -> CommandDescription {
        try JSONDecoder().decode(
            CommandDescription.self, from: Data(#"{"commandName": "\#(name)", "shouldDisplay": true\#(json)}"#.utf8))
    }

    @Test("it has every visible subcommand and option, and no hidden one")
    func complete() async throws {
        let page = try await Shell.run("SOURCE_DATE_EPOCH=86400 notify-demo generate-manual").output
        #expect(page.contains("\n.Dd January 2, 1970\n.Dt NOTIFY-DEMO 1\n"))
        for subcommand in try #require(CommandDescription(of: NotifyDemo.self).subcommands) {
            let name = subcommand.name
            #expect(
                page.contains("\n.Ss \(name.replacing("-", with: #"\-"#))\n") == subcommand.shouldDisplay, "\(name)")
            guard subcommand.shouldDisplay else { continue }
            let help = try await Shell.run("notify-demo \(name) --help").output
            for option in help.matches(of: /\n  (?:-[a-z], )?--([a-z-]+)/).map(\.1) {
                #expect(page.contains("Fl -\(option.replacing("-", with: #"\-"#))"), "\(name) \(option)")
            }
        }
    }

    @Test("mandoc's lint reports nothing", .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/mandoc")))
    func lint() async throws {
        let outcome = try await Shell.run("notify-demo generate-manual | mandoc -T lint")
        #expect(outcome.output == "")
        #expect(outcome.errors == "")
    }

    @Test("no part of the text is taken for a macro or an escape")
    func escapes() {
        #expect(MdocText.filled(".Pp is a macro") == [#"\&.Pp is a macro"#])
        #expect(MdocText.filled("'quoted' \\fB --json") == [#"\(aqquoted\(aq \efB \%\-\-json"#])
        #expect(MdocText.filled("a → b") == [#"a \[u2192] b"#])
        #expect(MdocText.literal("./my-program", isCommand: true) == [#"\&./my\-program"#])
        #expect(MdocText.argument("In it") == #"\&In it"#)
    }

    @Test("each sentence begins a new line, and no line is too long")
    func lines() {
        #expect(MdocText.filled("One. Two (and a half.) Three?") == ["One.", "Two (and a half.)", "Three?"])
        let long = MdocText.filled(String(repeating: "word ", count: 50))
        #expect(long.count == 4)
        #expect(long.allSatisfy { $0.count <= 80 })
        #expect(MdocText.filled(" ") == [])
    }

    @Test("a long command is broken where the shell allows it")
    func longCommands() {
        let name = String(repeating: "a", count: 40)
        let words = { (line: String) in MdocText.literal(line, isCommand: true) }
        #expect(words("\(name) | \(name) x") == ["\(name) |", "    \(name) x"])
        #expect(words("\(name) b \(name)") == ["\(name) b \\e", "    \(name)"])
        #expect(MdocText.literal("\(name) b \(name)", isCommand: false) == ["\(name) b", "    \(name)"])
        // The text has no place for a line break.
        #expect(words("\(name)\(name)") == ["\(name)\(name)"])
        #expect(words("    \(name)\(name)") == ["    \(name)\(name)"])
    }

    @Test("a discussion is parsed by its layout for a terminal")
    func discussion() {
        let blocks = DiscussionBlock.blocks(
            of: """
                One
                paragraph.

                Another:
                  literal
                    more

                EXIT STATUS
                  0 success

                  1 failure
                """)
        #expect(
            blocks == [
                .paragraph("One paragraph."), .paragraph("Another:"), .literal(["literal", "  more"]),
                .heading("EXIT STATUS"), .literal(["0 success"]), .literal(["1 failure"]),
            ])
        #expect(DiscussionBlock.blocks(of: "") == [])
    }

    @Test("a command without arguments has a page; a nested subcommand appears with both names")
    func commands() throws {
        let date = Date(timeIntervalSince1970: 0)
        #expect(
            ManualPage.text(for: try command("x"), date: date).hasSuffix(
                ".Dd January 1, 1970\n.Dt X 1\n.Os\n.Sh NAME\n.Nm x\n.Sh SYNOPSIS\n.Nm\n.Sh DESCRIPTION"))
        let nested = try command(
            "x",
            """
            , "subcommands": [
                {"commandName": "a", "shouldDisplay": true, "subcommands": [
                    {"commandName": "b", "shouldDisplay": true, "arguments": [
                        {"kind": "option", "shouldDisplay": true, "isOptional": false, "isRepeating": true,
                         "names": [{"kind": "short", "name": "o"}, {"kind": "long", "name": "out"}],
                         "preferredName": {"kind": "long", "name": "out"}, "valueName": "file",
                         "defaultValue": "run.jsonl"}]}]},
                {"commandName": "hidden", "shouldDisplay": false}]
            """)
        let page = ManualPage.text(for: nested, date: date)
        #expect(page.contains("\n.Nm\n.Cm a b\n.Fl -out Ar file ...\n"))
        #expect(
            page.contains(
                "\n.Ss a b\n.Bl -tag -width Ds\n.It Fl o , Fl -out Ar file ...\nDefault: run.jsonl.\n.El"))
        #expect(!page.contains("hidden"))
    }
}
