import ArgumentParser
import Foundation

/// A command as swift-argument-parser describes it, with what a manual page needs.
struct CommandDescription: Decodable {
    struct Argument: Decodable {
        enum Kind: String, Decodable {
            case positional
            case option
            case flag
        }

        struct Name: Decodable {
            enum Kind: String, Decodable {
                case long
                case short
                case longWithSingleDash
            }

            var kind: Kind
            var name: String
        }

        var kind: Kind
        var shouldDisplay: Bool
        var isOptional: Bool
        var isRepeating: Bool
        var names: [Name]?
        var preferredName: Name?
        var valueName: String?
        var defaultValue: String?
        var allValues: [String]?
        var abstract: String?
        var discussion: String?
    }

    /// What swift-argument-parser wraps it in.
    private struct Tool: Decodable {
        var command: CommandDescription
    }

    private enum CodingKeys: String, CodingKey {
        case name = "commandName"
        case shouldDisplay, abstract, discussion, subcommands, arguments
    }

    var name: String
    var shouldDisplay: Bool
    var abstract: String?
    var discussion: String?
    var subcommands: [CommandDescription]?
    var arguments: [Argument]?

    init(of command: (some ParsableCommand).Type) throws {
        self = try JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8)).command
    }

    /// The subcommands that help shows, and theirs, each with its name as it is typed after the command's.
    var shownSubcommands: [(name: String, command: CommandDescription)] {
        (subcommands ?? []).filter(\.shouldDisplay).flatMap { command in
            [(command.name, command)]
                + command.shownSubcommands.map { ("\(command.name) \($0.name)", $0.command) }
        }
    }

    /// The arguments that help shows.
    var shownArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
}
