<?xml version="1.0" encoding="UTF-8"?>
<!--
  Older names to those of the SSS Job Object 3.1.0.

  Names of the 3.0, 2.0 and 0.2 drafts, as deployed software (Maui, Gold) writes them, become the
  names of 3.1.0. A name that implies a category (requestedProcessors, wallclockTimeUsed) moves
  into a Requested or Delivered block at the end of its container. All else stays as it is.
-->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:s="http://www.scidac.org/ScalableSystems/SSSRMAP"
                xmlns:sheet="urn:sssjob:sheet" exclude-result-prefixes="s sheet">

  <sheet:about stream="yes">older names to those of 3.1.0</sheet:about>

  <xsl:output method="xml" encoding="UTF-8" omit-xml-declaration="yes"/>

  <!-- The names, by where they are read: old=new. -->

  <xsl:variable name="in-job-group"> JobGroupId=Id JobGroupName=Name JobGroupState=State </xsl:variable>

  <xsl:variable name="in-job"> JobId=Id jobId=Id JobName=Name jobName=Name JobState=State jobState=State </xsl:variable>

  <xsl:variable name="in-task"> SessionId=Session TaskId=Id </xsl:variable>

  <!-- In a Job, TaskGroup, Task and their defaults -->
  <xsl:variable name="anywhere">
    CPUDuration=CpuDuration  eligibleDate=EligibleTime  CompletionTime=EndTime  GlobalJobId=GlobalId
    IsInteractive=Interactive  JobType=Type  QuoteId=Quote  SubmissionTime=SubmitTime
  </xsl:variable>

  <!-- There, and in Requested and Delivered -->
  <xsl:variable name="categorized">
    MachineName=Machine  NetworkType=NetworkAdapter  Nodes=NodeCount  OpSys=OperatingSystem
    qos=QualityOfService  Class=Queue  QueueName=Queue  ReservationId=Reservation  RequiredReservation=Reservation
    WallDuration=Duration  Account=Project  ProjectId=Project  accountName=Project  GroupId=Group
    UserId=User  userName=User
  </xsl:variable>

  <!-- There too, and elsewhere they belong in the category that they imply -->
  <xsl:variable name="requested">
    requestedNodes=NodeCount  requestedQueue=Queue  wallclockLimit=Duration
    requestedProcessors=Processors
  </xsl:variable>

  <xsl:variable name="delivered"> wallclockTimeUsed=Duration </xsl:variable>


  <xsl:template match="@* | node()">
    <xsl:copy>
      <xsl:apply-templates select="@* | node()"/>
    </xsl:copy>
  </xsl:template>

  <xsl:template match="*">
    <xsl:variable name="name"><xsl:apply-templates select="." mode="name"/></xsl:variable>
    <xsl:element name="{concat(substring-before(name(), local-name()), $name)}" namespace="{namespace-uri()}">
      <xsl:copy-of select="namespace::*"/>
      <xsl:apply-templates select="@* | node()"/>
    </xsl:element>
  </xsl:template>

  <!-- A container gives what implies a category to one block of that category, at its end -->
  <xsl:template match="*[contains(' Job JobDefaults TaskGroup TaskGroupDefaults Task TaskDefaults ', concat(' ', local-name(), ' '))]">
    <xsl:variable name="for-requested" select="*[contains(concat(' ', normalize-space($requested), ' '), concat(' ', local-name(), '='))][namespace-uri() = '' or self::s:*]"/>
    <xsl:variable name="for-delivered" select="*[contains(concat(' ', normalize-space($delivered), ' '), concat(' ', local-name(), '='))][namespace-uri() = '' or self::s:*]"/>
    <xsl:choose>
      <xsl:when test="namespace-uri() != '' and not(self::s:*)">
        <xsl:copy-of select="."/>
      </xsl:when>
      <xsl:when test="not($for-requested | $for-delivered)">
        <xsl:copy><xsl:apply-templates select="@* | node()"/></xsl:copy>
      </xsl:when>
      <xsl:otherwise>
        <xsl:copy>
          <xsl:apply-templates select="@*"/>
          <xsl:for-each select="node()[not(position() = last() and self::text())]">
            <xsl:variable name="moving" select="(self::* | self::text()[normalize-space() = '']/following-sibling::node()[1][self::*])[contains(concat(' ', normalize-space(concat($requested, $delivered)), ' '), concat(' ', local-name(), '='))][namespace-uri() = '' or self::s:*]"/>
            <xsl:if test="not($moving)"><xsl:apply-templates select="."/></xsl:if>
          </xsl:for-each>
          <xsl:call-template name="block">
            <xsl:with-param name="name">Requested</xsl:with-param>
            <xsl:with-param name="properties" select="$for-requested"/>
          </xsl:call-template>
          <xsl:call-template name="block">
            <xsl:with-param name="name">Delivered</xsl:with-param>
            <xsl:with-param name="properties" select="$for-delivered"/>
          </xsl:call-template>
          <xsl:apply-templates select="text()[not(following-sibling::node())]"/>
        </xsl:copy>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="block">
    <xsl:param name="name"/>
    <xsl:param name="properties"/>
    <xsl:if test="$properties">
      <xsl:copy-of select="text()[1][normalize-space() = '']"/>
      <xsl:element name="{concat(substring-before(name(), local-name()), $name)}" namespace="{namespace-uri()}">
        <xsl:apply-templates select="$properties"/>
      </xsl:element>
    </xsl:if>
  </xsl:template>


  <!-- What an element is called in 3.1.0 -->

  <xsl:template match="*" mode="name">
    <xsl:variable name="tables"><xsl:apply-templates select="." mode="tables"/></xsl:variable>
    <xsl:variable name="key" select="concat(' ', local-name(), '=')"/>
    <xsl:variable name="known" select="concat(' ', normalize-space($tables), ' ')"/>
    <xsl:choose>
      <xsl:when test="contains($known, $key)">
        <xsl:value-of select="substring-before(substring-after($known, $key), ' ')"/>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="local-name()"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Network is an amount (Table 4); with text that is no number it is the adapter of Table 2 -->
  <xsl:template mode="name" match="*[local-name() = 'Network'][not(@context | @units | @metric | @duration | @consumptionRate | @dynamic)][translate(normalize-space(), '0123456789+-.eE', '') != '']">
    <xsl:variable name="in"><xsl:apply-templates select="." mode="place"/></xsl:variable>
    <xsl:text>Network</xsl:text>
    <xsl:if test="$in != '' and $in != 'JobGroup'">Adapter</xsl:if>
  </xsl:template>

  <!-- The tables that are read where an element stands -->

  <xsl:template match="*" mode="tables">
    <xsl:variable name="in"><xsl:apply-templates select="." mode="place"/></xsl:variable>
    <xsl:choose>
      <xsl:when test="$in = 'JobGroup'"><xsl:value-of select="$in-job-group"/></xsl:when>
      <xsl:when test="$in != ''">
        <xsl:if test="$in = 'Job'"><xsl:value-of select="$in-job"/></xsl:if>
        <xsl:if test="$in = 'Task'"><xsl:value-of select="$in-task"/></xsl:if>
        <xsl:if test="$in != 'category'"><xsl:value-of select="$anywhere"/></xsl:if>
        <xsl:value-of select="concat($categorized, $requested, $delivered)"/>
      </xsl:when>
    </xsl:choose>
  </xsl:template>

  <!-- Where an element stands: JobGroup, Job, TaskGroup, Task, category, or nowhere we know -->

  <xsl:template match="*" mode="place">
    <xsl:variable name="parent" select="concat(' ', local-name(..), ' ')"/>
    <xsl:if test="(namespace-uri() = '' or self::s:*) and (namespace-uri(..) = '' or parent::s:*)">
      <xsl:choose>
        <xsl:when test="$parent = ' JobGroup '">JobGroup</xsl:when>
        <xsl:when test="contains(' Job JobDefaults ', $parent)">Job</xsl:when>
        <xsl:when test="contains(' TaskGroup TaskGroupDefaults ', $parent)">TaskGroup</xsl:when>
        <xsl:when test="contains(' Task TaskDefaults ', $parent)">Task</xsl:when>
        <xsl:when test="contains(' Requested Delivered ', $parent)">category</xsl:when>
      </xsl:choose>
    </xsl:if>
  </xsl:template>
</xsl:stylesheet>
