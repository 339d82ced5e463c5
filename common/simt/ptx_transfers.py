"""Inline PTX: barriers that count bytes (mbarrier), and asynchronous copies, as C++ on the functions of include/simt/transfers.h."""

from __future__ import annotations

import re

from ptx_operands import Operands


class Transfers(Operands):
    OF_MBARRIER = re.compile(r"mbarrier\.(init|inval|expect_tx|complete_tx|arrive(?:_drop)?(?:\.expect_tx|\.noComplete)?|(?:test|try)_wait(?:\.parity)?)"
                             r"(?:\.(?:acquire|release|relaxed))?(?:\.cta|\.cluster)?(?:\.parity)?(\.shared(?:::cta)?)?\.b64")

    def of_mbarrier(self) -> str:
        match = self.OF_MBARRIER.fullmatch(self.opcode)
        if not match:
            raise self.unknown()
        does, shared = match[1], bool(match[2])
        has_result = does.startswith("arrive") or "_wait" in does
        result, operands = (self.operands[0], self.operands[1:]) if has_result else ("", self.operands)
        at, *more = [self.address(operands[0], shared), *[self.value(one, "uint32_t") for one in operands[1:2]]]
        if does == "inval":
            return ";"
        if does in ("expect_tx", "complete_tx"):
            return f"simt::ptx::mbarrier_transfer({at}, {'-' if does == 'complete_tx' else ''}static_cast<int64_t>({more[0]}));"
        if does == "init":
            return f"simt::ptx::mbarrier_init({at}, {more[0]});"
        if "_wait" in does:
            if ".parity" in self.opcode:
                return self.put(result, f"simt::ptx::mbarrier_is_over_of_parity({at}, {more[0]})")
            return self.put(result, f"simt::ptx::mbarrier_is_over({at}, {self.value(operands[1], 'uint64_t')})")
        if does == "arrive_drop":
            if result != "_" or more:
                raise self.unknown()
            return f"simt::ptx::mbarrier_drop({at});"
        if does not in ("arrive", "arrive.expect_tx", "arrive.noComplete"):
            raise self.unknown()
        expects = does == "arrive.expect_tx"
        first = f"simt::ptx::mbarrier_transfer({at}, static_cast<int64_t>({more[0]})); " if expects else ""
        arrives = f"simt::ptx::mbarrier_arrive({at}, {more[0] if more and not expects else '1u'})"
        return first + (f"{arrives};" if result == "_" else self.put(result, arrives))

    def of_cp(self) -> str:
        if ".bulk" in self.opcode:
            return self.in_bulk()
        if match := re.fullmatch(r"cp\.async\.mbarrier\.arrive(\.noinc)?(\.shared(?:::cta)?)?\.b64", self.opcode):
            self.expect(1)
            at = self.address(self.operands[0], bool(match[2]))
            return f"simt::ptx::mbarrier_arrive({at}, 1u);" if match[1] else f"simt::ptx::mbarrier_transfer({at}, 1); simt::ptx::mbarrier_transfer({at}, -1);"
        match = re.fullmatch(r"cp\.async\.(ca|cg)\.shared(::cta)?\.global(\.L2::cache_hint)?(\.L2::(64|128|256)B)?", self.opcode)
        if match and match[3]:
            self.operands.pop()  # the policy
        if not match or len(self.operands) not in (3, 4):
            raise self.unknown()
        to, from_ = self.address(self.operands[0], True), self.address(self.operands[1], False)
        size = self.value(self.operands[2], "uint32_t")
        real = self.value(self.operands[3], "uint32_t") if len(self.operands) == 4 else size
        return f"simt::ptx::copy_async({to}, {from_}, {size}, {real});"

    def in_bulk(self) -> str:
        if re.fullmatch(r"cp\.async\.bulk\.(commit_group|wait_group(\.read)?|prefetch\.L2\.global(\.L2::cache_hint)?)", self.opcode):
            return ";"
        to_shared = re.fullmatch(r"cp\.async\.bulk\.shared::(?:cluster|cta)\.global\.mbarrier::complete_tx::bytes(\.L2::cache_hint)?", self.opcode)
        to_global = re.fullmatch(r"cp\.async\.bulk\.global\.shared::cta\.bulk_group(\.L2::cache_hint)?", self.opcode)
        if not to_shared and not to_global:
            raise self.unknown()
        if (to_shared or to_global)[1]:
            self.operands.pop()  # the policy
        self.expect(4 if to_shared else 3)
        to, from_ = self.address(self.operands[0], bool(to_shared)), self.address(self.operands[1], bool(to_global))
        barrier = f", {self.address(self.operands[3], True)}" if to_shared else ""
        return f"simt::copy_in_bulk({to}, {from_}, {self.value(self.operands[2], 'uint32_t')}{barrier});"
