# ruff: noqa: E501 (a row is a line)
"""Jobs put together of parts of every kind, for translations."""

from hypothesis import strategies as st
from translated import wrapped

from sssjob.document import loads

# What a job says and requests, of which some is written and some is told: one of each name at most.
OWN = (
    "<Name>scan</Name>", "<Name>a b/c</Name>", "<Project>p</Project>", "<QualityOfService>hi</QualityOfService>", "<Queue>q</Queue>",
    "<Partition>x</Partition>", "<Machine>m</Machine>", "<Reservation>R7</Reservation>", "<TaskCount>4</TaskCount>",
    '<TaskDistribution type="TasksPerNode">2</TaskDistribution>', '<TaskDistribution type="ProcessorsPerTask">2</TaskDistribution>',
    '<TaskDistribution type="Rule">RoundRobin</TaskDistribution>', '<TaskDistribution type="Rule">Foo</TaskDistribution>',
    '<TaskDistribution type="Geometry">{1,2}{3}</TaskDistribution>', '<ResourceLimit name="CPUTime" type="Soft">80</ResourceLimit>',
    '<ResourceLimit name="Memory" units="MB">90</ResourceLimit>', '<ResourceLimit name="Foo">2048</ResourceLimit>', "<EligibleTime>1800000000</EligibleTime>",
    "<DeadlineTime>1800000030</DeadlineTime>", '<Dependency condition="OnFailure">8</Dependency>', '<Dependency designator="JobName">nm</Dependency>',
    '<Dependency condition="OnStart">8</Dependency>', "<Hold>User</Hold>", "<Hold>System</Hold>", "<Priority>5000000</Priority>", "<Priority>-5</Priority>",
    "<Restartable>true</Restartable>", "<Restartable>maybe</Restartable>", "<Interactive>true</Interactive>", "<Suspendable>false</Suspendable>",
    "<Shell>/bin/bash</Shell>", "<Shell>/usr/bin/python3</Shell>", "<InitialWorkingDirectory>/data d</InitialWorkingDirectory>",
    '<Environment><Variable name="A">it\'s</Variable></Environment>', '<Environment><Variable name="1A">x</Variable></Environment>', "<Environment>text</Environment>",
    "<OutputFile>o.{{Id}}</OutputFile>", '<OutputFile redirectList="Append">o</OutputFile>', '<OutputFile redirectList="Keep"/>',
    '<OutputFile redirectList="Append,Flush">o</OutputFile>', "<ErrorFile>e</ErrorFile>", '<ErrorFile redirectList="Merge">x</ErrorFile>',
    '<ErrorFile redirectList="Close"/>', "<InputFile>i</InputFile>", '<InputFile redirectList="Close">i</InputFile>',
    '<NotificationList uri="mailto:a@b.org">JobEnd</NotificationList>', '<NotificationList uri="http://x/">All</NotificationList>',
    "<NotificationList>Foo</NotificationList>", "<ResourceManagerType>mine</ResourceManagerType>", '<Extension type="mine" name="x">1</Extension>',
    "<Arguments>a 'b c'</Arguments>", "<Colour>red</Colour>",
    "<TaskGroup><TaskCount>2</TaskCount><Requested><Memory>1</Memory></Requested></TaskGroup>",
    "<TaskGroup><Name>g</Name><TaskCount>1</TaskCount><Feature>z</Feature></TaskGroup>",
)  # fmt: skip
REQUESTED = (
    "<NodeCount>2</NodeCount>", '<NodeCount op="GE">2</NodeCount>', '<NodeCount op="NE">3</NodeCount>', "<Processors>8</Processors>",
    '<Processors op="LE">16</Processors>', '<Memory units="GB">3</Memory>', '<Memory context="Utilized">3</Memory>', '<Swap units="GB">2</Swap>',
    '<Disk units="GB">2</Disk>', "<Duration>3661</Duration>", "<Network>100</Network>", "<NetworkAdapter>ib</NetworkAdapter>",
    '<Resource name="GPU">2</Resource>', '<Resource name="GPU" type="a100">1</Resource>', '<Resource name="x" type="License">3</Resource>',
    '<Resource name="foo">1</Resource>', "<Feature>a</Feature>", '<Feature op="NE">c</Feature>', "<Node>n1</Node>", '<Node op="NE">n2</Node>',
    '<Node aggregation="Range">n[1-4]</Node>', '<Node aggregation="Pattern">n.*</Node>', '<Node aggregation="List" count="1">n1,n2</Node>',
    "<Architecture>x86_64</Architecture>", "<OperatingSystem>Linux</OperatingSystem>", "<CpuDuration>50</CpuDuration>", "<User>amy</User>",
)  # fmt: skip


def name_of(part):
    return part[1:].partition(">")[0].split()[0]


def picked(parts, most):
    return st.lists(st.sampled_from(parts), max_size=most, unique_by=name_of)


def document(own, asked):
    return loads(
        wrapped("".join(own) + (f"<Requested>{''.join(asked)}</Requested>" if asked else ""))
    )
