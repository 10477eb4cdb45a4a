internal import DeliveryRecording
internal import TerminalText

/// Observers that were not removed as intended: too early, too late, twice or never.
extension Evidence {
    /// Handlers that began after their observer had been removed (guarantee 6).
    ///
    /// A handler that was running during the removal may be recorded after it. The removal's record has the number of
    /// these.
    var deliveredAfterRemoval: [Finding] {
        index.spans.filter { span in
            let removed = words.removed(index.observer(of: span))
            return removed >= 0 && removed < span.begin
        }.grouped(by: index.observer).compactMap { spans in
            let observer = index.observer(of: spans[0])
            let removed = words.removed(observer)
            // The removing thread's own later deliveries were not running during the removal. A removal without the
            // number of running handlers says nothing of other threads.
            let own = spans.count { index.entry(removed).thread == $0.thread && !index.hasNoTarget($0) }
            let running = index.entry(removed).count < 0 ? spans.count : Int(index.entry(removed).count)
            let count = own + max(0, spans.count - own - running)
            guard count > 0 else { return nil }
            return Finding(
                problem: "\(words.observer(observer)) received \(counted(count, "notification")) after it was removed.",
                evidence: [words.registered(observer), removed, spans[spans.count - 1].begin],
                remedy: index.registration(of: observer)?.isFoundation == true
                    ? "NotificationCenter still calls observers that are removed during a post, and does not wait for "
                        + "handlers of other threads. Observe with ThreadedNotificationCenter: its cancelAndWait() "
                        + "returns when no handler runs or will run."
                    : "Call cancelAndWait() before you release anything that the handler uses. If no handler was "
                        + "running during the removal, report this recording as a bug of the library.", weight: count,
                name: index.registration(of: observer)?.name ?? -1)
        }
    }

    /// Observers of a Foundation center that were removed although they had been removed before. The center reuses the
    /// keys of removed observers, so the second removal may remove another observer.
    var removedTwice: [Finding] {
        // Records need not name the observer.
        index.records(of: .remove).filter { index.entry($0).reason == .alreadyRemoved }.grouped {
            index.entry($0).observer
        }.map { removals in
            let (observer, name) = (index.entry(removals[0]).observer, index.entry(removals[0]).name)
            return Finding(
                problem: "\(observer < 0 ? "An observer" : words.observer(observer)) was removed again "
                    + "\(words.times(removals.count)) after it had been removed. On Linux, that may remove the observer "
                    + "that was added since then.",
                evidence: [words.registered(observer), words.removed(observer), removals[0]],
                remedy: "Remove a token once: set the variable that holds it to nil, and call removeObserver only if "
                    + "it is not nil.", weight: removals.count, name: name)
        }
    }

    /// Observers that were removed before their name was posted without an observer. If such an observer never received
    /// anything, the program probably did not keep its token.
    var removedBeforePost: [Finding] {
        histories.filter { $0.name >= 0 }.flatMap { history -> [Finding] in
            let removals = history.registrations.map { words.removed(index.entry($0).observer) }.filter { $0 >= 0 }
                .sorted()
            /// The last removal before a post without an observer, unless an observer was added since.
            func missed(_ post: Int32) -> Int32 {
                let removal = removals.firstIndex(after: post) - 1
                guard index.entry(post).count == 0, removal >= 0, case let removed = removals[removal],
                    history.registrations.numbers(after: removed, before: post).isEmpty
                else { return -1 }
                let asked = index.registration(of: index.entry(removed).observer)?.sender ?? -1
                return asked < 0 || asked == index.entry(post).sender ? removed : -1
            }
            return history.posts.filter { missed($0) >= 0 }.grouped(by: missed).compactMap { posts in
                let finding = finding(removed: missed(posts[0]), posts)
                // An observer that was replaced later was probably removed on purpose.
                let isReplaced = history.registrations[history.registrations.count - 1] > missed(posts[0])
                return isReplaced && finding.severity == .note ? nil : finding
            }
        }
    }

    private func finding(removed: Int32, _ posts: [Int32]) -> Finding {
        let (removal, name) = (index.entry(removed), index.entry(posts[0]).name)
        let (observer, isReleased) = (removal.observer, removal.reason == .released)
        let isLikelyMistake = isReleased && hasReceivedNothing(observer) && words.wasRemovedAtOnce(observer)
        let lifetime = ElapsedTime.text(index.time(from: words.registered(observer), to: removed))
        return Finding(
            severity: isLikelyMistake ? .problem : .note,
            problem: "\(words.observer(observer)) was removed \(lifetime) after it was added"
                + "\(isReleased ? ", because its token was released" : ""). Then \(words.name(name)) was posted "
                + "\(words.times(posts.count)) without an observer.",
            evidence: [words.registered(observer), removed, posts[0]],
            // Foundation does not remove an observer when its token is released.
            remedy: removal.isFoundation || removal.reason == .cancelled
                ? "If the observer should have received that, remove it later."
                : "If the observer should have received that, keep the token that addObserver returns: releasing it "
                    + "removes the observer. An observer that is an object is removed when the object is released.",
            weight: posts.count, name: name)
    }

    /// Observers that were added at one source location again and again and never removed, so that a post calls more
    /// and more handlers. Often the handler keeps the object that should remove it.
    ///
    /// A single observer that is left when the program ends is usual, and so is a thread of its own for each observer.
    var neverRemoved: [Finding] {
        index.observers.indices.compactMap { index.registration(of: Int32($0)) }.filter {
            $0.location >= 0 && !recording.isCalledByFoundation($0)
                && recording.completeness[recording.process(of: $0)] == .complete
        }.grouped { [Int32(recording.process(of: $0)), $0.name, $0.sender, $0.target, $0.location] }.compactMap {
            added in
            guard added.count > 1, added.allSatisfy({ words.removed($0.observer) < 0 }) else { return nil }
            return Finding(
                severity: .note,
                problem: "\(added.count) observers of \(words.name(added[0].name)) were added at one source location, "
                    + "and none was removed.",
                evidence: [added[0], added[added.count - 1]].map { words.registered($0.observer) },
                remedy: "Keep the token in the object that observes, and remove the observer when the object is "
                    + "released; NotificationCenter needs removeObserver for that. If the handler uses the object, write "
                    + "[weak self] in it: otherwise the handler keeps the object, and the object is never released.",
                weight: added.count, name: added[0].name)
        }
    }
}
