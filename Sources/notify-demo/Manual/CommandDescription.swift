import ArgumentParser
import Foundation

/// The part of swift-argument-parser's description of a command that a manual page needs.
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

    /// The outermost object of swift-argument-parser's description.
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

    /// The visible subcommands and their visible subcommands, each with the words that are typed after the command's
    /// name.
    var shownSubcommands: [(name: String, command: CommandDescription)] {
        (subcommands ?? []).filter(\.shouldDisplay).flatMap { command in
            [(command.name, command)]
                + command.shownSubcommands.map { ("\(command.name) \($0.name)", $0.command) }
        }
    }

    /// The visible arguments.
    var shownArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
}
