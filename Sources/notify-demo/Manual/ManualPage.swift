import Foundation

/// The manual page of a command and its subcommands, in mdoc. It is a function of the command's declarations, so no
/// part of it is maintained by hand.
struct ManualPage {
    private let command: CommandDescription
    private let date: Date
    private var lines: [String] = []

    static func text(for command: CommandDescription, date: Date) -> String {
        var page = ManualPage(command: command, date: date)
        page.write()
        return page.lines.joined(separator: "\n")
    }

    private init(command: CommandDescription, date: Date) {
        self.command = command
        self.date = date
    }

    private mutating func write() {
        let style = Date.VerbatimFormatStyle(
            format: "\(month: .wide) \(day: .defaultDigits), \(year: .defaultDigits)",
            locale: Locale(identifier: "en_US"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
        lines += [
            ".\\\" Generated from the declarations of the command line.",
            ".Dd \(date.formatted(style))", ".Dt \(command.name.uppercased()) 1", ".Os",
            ".Sh NAME", ".Nm \(MdocText.argument(command.name))",
        ]
        if let abstract = command.abstract { lines.append(".Nd \(MdocText.nameDescription(abstract))") }
        lines.append(".Sh SYNOPSIS")
        synopsis(of: command, named: nil)
        for (name, subcommand) in command.shownSubcommands { synopsis(of: subcommand, named: name) }
        lines.append(".Sh DESCRIPTION")
        if let abstract = command.abstract { paragraph(abstract) }
        let sections = Self.sections(of: command.discussion ?? "")
        write(sections.first?.blocks ?? [], asExamples: false)
        if !command.shownArguments.isEmpty {
            lines.append(".Sh OPTIONS")
            list(command.shownArguments)
        }
        if !command.shownSubcommands.isEmpty { lines.append(".Sh SUBCOMMANDS") }
        for (name, subcommand) in command.shownSubcommands { write(subcommand, named: name) }
        // Manual pages end with these sections, in any order of the help text.
        let last = ["EXIT STATUS", "EXAMPLES"]
        func rank(_ heading: String?) -> Int { heading.flatMap(last.firstIndex(of:)) ?? -1 }
        for section in sections.dropFirst().sorted(by: { rank($0.heading) < rank($1.heading) }) {
            lines.append(".Sh \(section.heading ?? "")")
            write(section.blocks, asExamples: section.heading == "EXAMPLES")
        }
    }

    private mutating func write(_ subcommand: CommandDescription, named name: String) {
        lines.append(".Ss \(MdocText.argument(name))")
        if let abstract = subcommand.abstract { paragraph(abstract) }
        let sections = Self.sections(of: subcommand.discussion ?? "")
        write(sections.first?.blocks ?? [], asExamples: false, begins: false)
        let arguments = Self.withoutHelp(subcommand.shownArguments)
        if !arguments.isEmpty { list(arguments) }
        for section in sections.dropFirst() {
            lines += [".Pp", ".Sy \(MdocText.argument((section.heading ?? "").capitalized))"]
            write(section.blocks, asExamples: section.heading == "EXAMPLES", begins: false)
        }
    }

    /// Splits a discussion at its headings. The first section has no heading.
    private static func sections(of discussion: String) -> [(heading: String?, blocks: [DiscussionBlock])] {
        var sections: [(heading: String?, blocks: [DiscussionBlock])] = [(nil, [])]
        for block in DiscussionBlock.blocks(of: discussion) {
            if case .heading(let heading) = block {
                sections.append((heading, []))
            } else {
                sections[sections.count - 1].blocks.append(block)
            }
        }
        return sections
    }

    /// - Parameter begins: true if no text precedes the first block, so that no paragraph break is needed.
    private mutating func write(_ blocks: [DiscussionBlock], asExamples: Bool, begins: Bool = true) {
        for (index, block) in blocks.enumerated() {
            switch block {
            case .heading: break
            case .paragraph(let text):
                if index > 0 || !begins || lines.last?.hasPrefix(".Sh") == false { lines.append(".Pp") }
                paragraph(text)
            case .literal(let texts):
                let isCompact = lines.last?.hasPrefix(".Sy") == true
                lines.append(".Bd -literal -offset 2n\(isCompact ? " -compact" : "")")
                for text in texts {
                    lines += MdocText.literal(text, isCommand: asExamples)
                }
                lines.append(".Ed")
            }
        }
    }

    private mutating func paragraph(_ text: String) {
        lines += MdocText.filled(text)
    }

    private mutating func synopsis(of command: CommandDescription, named name: String?) {
        lines.append(".Nm")
        if let name { lines.append(".Cm \(MdocText.argument(name))") }
        for argument in name == nil ? command.shownArguments : Self.withoutHelp(command.shownArguments) {
            let form = Self.form(of: argument, names: argument.preferredName.map { [$0] } ?? [])
            lines.append(argument.isOptional ? ".Op \(form)" : ".\(form)")
        }
        if name == nil, !self.command.shownSubcommands.isEmpty {
            lines += [".Op Ar subcommand"]
        }
    }

    private mutating func list(_ arguments: [CommandDescription.Argument]) {
        lines.append(".Bl -tag -width Ds")
        for argument in arguments {
            lines.append(".It \(Self.form(of: argument, names: argument.names ?? []))")
            var text = argument.abstract ?? ""
            if let values = argument.allValues { text += " Values: \(values.joined(separator: ", "))." }
            if let value = argument.defaultValue { text += " Default: \(value)." }
            if !text.isEmpty { paragraph(text.trimmingCharacters(in: .whitespaces)) }
            write(DiscussionBlock.blocks(of: argument.discussion ?? ""), asExamples: false, begins: false)
        }
        lines.append(".El")
    }

    /// Every command has the help option; the page describes it once.
    private static func withoutHelp(_ arguments: [CommandDescription.Argument]) -> [CommandDescription.Argument] {
        arguments.filter { !($0.names ?? []).contains { $0.name == "help" } }
    }

    private static func form(
        of argument: CommandDescription.Argument, names: [CommandDescription.Argument.Name]
    ) -> String {
        let repeated = argument.isRepeating ? " ..." : ""
        let value = "Ar \(MdocText.argument(argument.valueName ?? "value"))\(repeated)"
        guard argument.kind != .positional else { return value }
        let forms = names.map { "Fl \($0.kind == .long ? "-" : "")\(MdocText.argument($0.name))" }
        let all = forms.joined(separator: " , ")
        return argument.kind == .option ? "\(all) \(value)" : all
    }
}
